// As solve.cu, for small worlds: one sweep is straight code in which every row is a variable, so that values never leave
// the registers. There is no room for earlier iterates, and none is needed where the discount is not close to 1.
//
// Sweeps in 32-bit numbers come first, as far as they are exact; sweeps in 64-bit numbers go on from there, and they alone
// decide when a machine is done. A sweep is a contraction by the discount whatever it starts from, so that its change
// bounds the error. Where a label can be read again and again, every step or every second one, what that is worth is a
// bound from below that costs nothing: such loops are what plain sweeps are slow on.
//
// After every LEAP sweeps, the last STEP of them are taken on as far as changes that shrink as they did would lead (Aitken);
// where that makes matters worse, it is left out for a while.
//
// Machines take from 1 to some 200 sweeps. So a machine that is done gives its seat, n lanes, to the next one of the block's
// groups, while those beside it go on. Seats change hands every LEAP sweeps only, so that all leap together, and a machine's
// numbers do not depend on who sits beside it.
//
// `straight.py` writes what comes before: ROWS declares the variables x0, x1, ..., SWEEP sweeps over them, SIZE finds the
// largest, STORE writes them, LEAPS takes them on, LOAD reads them; ROWS32 and so on do so with y0, y1, ..., CLEAR32 makes
// them 0.
//
// There are two kernels, since the code of both sweeps together would not stay in the cache for instructions.

#define LEAP 8
#define STEP 2 // sweeps of a step that is taken on: two, since changes may swing
#define ALL 0xffffffffu
#define PUT(x, best) \
    { \
        double now = best; \
        change = larger_bits(change, size_bits(now - x)); \
        x = now; \
    }
#define PUT32(x, best) \
    { \
        float now = best; \
        change = fmaxf(change, fabsf(now - x)); \
        x = now; \
    }
#define ENTER(x, best, k) PUT(x, paid[k * WARP + lane] + __shfl_sync(ALL, best, to[k * WARP + lane]))
#define ENTER32(x, best, k) PUT32(x, paid32[k * WARP + lane] + __shfl_sync(ALL, best, to[k * WARP + lane]))
#define AGAIN(k, step) again[((step - 1) * m + k) * WARP + lane]
#define AGAIN32(k, step) again32[((step - 1) * m + k) * WARP + lane]
#define MEASURE(x) size = larger_bits(size, size_bits(x));
#define FROM(row, x) x = fresh ? (double)((const float *)out)[2 * (row * WARP + lane)] : x;
#define KEEP(row, x) out[row * WARP + lane] = x;
#define LEAD(row, x) x += ahead * (x - out[row * WARP + lane]);
#define EMPTY32(y) y = fresh ? 0.0f : y;
#define KEEP32(row, y) ((float *)out)[2 * (row * WARP + lane)] = y; // in the place of the 64-bit number to come
#define LEAD32(row, y) y += ahead * (y - ((const float *)out)[2 * (row * WARP + lane)]);

// The upper half of a number's size, which orders as the number does and takes one instruction to compare; and a bound from it.
__device__ inline int size_bits(double x) { return __double2hiint(x) & 0x7fffffff; }
__device__ inline int larger_bits(int one, int other) { return one > other ? one : other; }
__device__ inline double above(int bits) { return __hiloint2double(bits + 1, 0); }

// Who sits in a lane, and how its changes shrink. Kept in fast memory: values need all the registers.
struct Sitter {
    Int machine, place;         // and where its values are written
    float second, began, leapt; // the change of a round's second sweep, of that before the step to be taken on, of the last leap
    int sweeps, wait, pause;    // leaps to be left out, now and after the next failure
    int going;
};

// Which lane of which seat this is, worked out anew rather than remembered.
__device__ inline Place lane_of(Int n) {
    int lane = threadIdx.x;
#ifndef EMULATED
    asm volatile("" : "+r"(lane));
#endif
    Place at;
    at.lane = lane;
    at.per = WARP / (int)n;
    at.seat = lane / (int)n;
    at.y = lane % (int)n;
    at.base = at.seat * (int)n;
    return at;
}

// Seats that are free go to the next machines of the block's groups, as far as there are any. Return the lanes where that is
// so; `next` counts the block's machines. What is worth writing goes where the machine would sit in its own group.
__device__ inline unsigned next_machines(int &next, Place &at, Int n, Int machines, Int rows, volatile Sitter *own) {
    bool free = !own->going && at.seat < at.per;
    unsigned seats = __ballot_sync(ALL, free && at.y == 0);
    if (free) {
        int turn = next + __popc(seats & ((1u << at.base) - 1)), seat = turn % at.per;
        Int group = blockIdx.x + (Int)(turn / at.per) * gridDim.x, machine = group * at.per + seat;
        if (machine < machines) {
            own->machine = machine;
            own->place = group * rows * WARP + seat * (int)n - at.base;
            own->sweeps = own->wait = 0;
            own->pause = own->going = 1;
        }
    }
    next += __popc(seats);
    at.machine = own->machine;
    at.here = free && own->going;
    return __ballot_sync(ALL, at.here);
}

// Note the last change of a round; return how far to take the step on, in units of it.
__device__ inline float paced(volatile Sitter *own, float change) {
    if (own->sweeps > 0 && own->second > 0.7f * own->leapt && own->wait == 0) {
        own->wait = own->pause;
        own->pause = 2 * own->pause;
    }
    own->sweeps = own->sweeps + LEAP;
    own->leapt = change;
    if (own->wait > 0) {
        own->wait = own->wait - 1;
        return 0.0f;
    }
    float ratio = change / own->began;
    return ratio > 0.05f && ratio < 0.99f ? ratio / (1.0f - ratio) : 0.0f;
}

// What it is worth to read label k for ever, once in so many steps, from each state of a machine: a sum doubled in length
// until what is left out is nothing.
__device__ inline double read_for_ever(
    unsigned mask, int k, int step, double discount, int lane, const int *to, const double *paid
) {
    double between = step == 1 ? 1.0 : discount, ratio = between * discount;
    double total = between * paid[k * WARP + lane];
    int next = to[k * WARP + lane];
    while (ratio > 1e-18) {
        total += ratio * __shfl_sync(mask, total, next);
        next = __shfl_sync(mask, next, next);
        ratio *= ratio;
    }
    return total;
}

// What both kernels are given.
#define GIVEN \
    Int machines, Int n, Int m, Int width, Int rows, Int swept, Int most_sweeps, double discount, const int *columns, \
        const int *label, const double *least, const int *first, const int *entries, const int *after, \
        const double *weight, const Byte *targets, const double *pays, const double *tolerance, double *z, Int *sweeps

// The sweeps in 32-bit numbers. Lanes without a machine sweep, too, over numbers that nobody reads.
extern "C" __global__ void __launch_bounds__(WARP) solve_roughly(GIVEN) {
    ROOM;
    double *paid = room;
    int *to = (int *)(paid + m * WARP);
    float *paid32 = (float *)(to + m * WARP);
    float *again32 = paid32 + m * WARP;
    int lane = threadIdx.x, next = 0;
    volatile Sitter *own = (Sitter *)(paid + 5 * m * WARP) + lane;
    own->going = own->machine = own->place = 0;
    seat_machine(place_of(0, n, 0), n, m, width, columns, targets, pays, to, paid);
    for (int k = 0; k < 3 * m; k++) paid32[k * WARP + lane] = 0.0f;
    ROWS32
    for (;;) {
        bool fresh;
        {
            Place at = lane_of(n);
            unsigned taken = next_machines(next, at, n, machines, rows, own);
            if (!__ballot_sync(ALL, own->going)) break;
            fresh = at.here;
            if (fresh) {
                seat_machine(at, n, m, width, columns, targets, pays, to, paid);
                for (int k = 0; k < m; k++) {
                    paid32[k * WARP + lane] = paid[k * WARP + lane];
                    for (int step = 1; LOOPS && step < 3; step++)
                        AGAIN32(k, step) = read_for_ever(taken, k, step, discount, lane, to, paid);
                }
            }
        }
        CLEAR32
        float change;
        for (int phase = 0; phase < LEAP; phase++) {
            if (phase == LEAP - STEP) {
                own->began = largest_of(ALL, change, lane_of(n), n);
                double *out = z + own->place;
                if (own->going) {
                    STORE32
                }
            }
            change = 0.0f;
            SWEEP32
            if (phase == 1) own->second = largest_of(ALL, change, lane_of(n), n);
        }
        float ahead = 0.0f;
        double *out = z + own->place;
        {
            Place at = lane_of(n);
            change = largest_of(ALL, change, at, n);
            double low, high;
            bounds_of(ALL, at, n, m, discount, paid, &low, &high);
            if (own->going) {
                ahead = paced(own, change);
                float enough = larger(tolerance[own->machine] * (1.0 - discount), 4e-7 * larger(high, -low));
                if (change <= enough || own->sweeps >= most_sweeps) {
                    own->going = 0;
                    ahead = 0.0f;
                    if (at.y == 0) sweeps[own->machine] = own->sweeps;
                    STORE32
                }
            }
        }
        LEAP32
    }
}

// The sweeps in 64-bit numbers, from where the others ended.
extern "C" __global__ void __launch_bounds__(WARP) solve_finely(GIVEN) {
    ROOM;
    double *paid = room;
    double *again = paid + m * WARP;
    int *to = (int *)(again + 2 * m * WARP);
    int lane = threadIdx.x, next = 0;
    volatile Sitter *own = (Sitter *)(paid + 5 * m * WARP) + lane;
    own->going = own->machine = own->place = 0;
    seat_machine(place_of(0, n, 0), n, m, width, columns, targets, pays, to, paid);
    for (int k = 0; k < 2 * m; k++) again[k * WARP + lane] = 0.0;
    ROWS
    for (;;) {
        bool fresh;
        {
            Place at = lane_of(n);
            unsigned taken = next_machines(next, at, n, machines, rows, own);
            if (!__ballot_sync(ALL, own->going)) break;
            fresh = at.here;
            if (fresh) {
                seat_machine(at, n, m, width, columns, targets, pays, to, paid);
                for (int k = 0; k < m; k++)
                    for (int step = 1; LOOPS && step < 3; step++)
                        AGAIN(k, step) = read_for_ever(taken, k, step, discount, lane, to, paid);
            }
        }
        {
            const double *out = z + own->place;
            LOAD
        }
        int change;
        for (int phase = 0; phase < LEAP; phase++) {
            if (phase == LEAP - STEP) {
                own->began = largest_of(ALL, above(change), lane_of(n), n);
                double *out = z + own->place;
                if (own->going) {
                    STORE
                }
            }
            change = 0;
            SWEEP
            if (phase == 1) own->second = largest_of(ALL, above(change), lane_of(n), n);
        }
        double ahead = 0.0;
        double *out = z + own->place;
        {
            int size = 0;
            SIZE
            Place at = lane_of(n);
            double exact = 4.0 * EPSILON * largest_of(ALL, __hiloint2double(size, 0), at, n); // below, it is rounding
            double most = largest_of(ALL, above(change), at, n);
            if (own->going) {
                ahead = paced(own, most);
                if (most <= larger(exact, tolerance[own->machine] * (1.0 - discount)) || own->sweeps >= most_sweeps) {
                    own->going = 0;
                    ahead = 0.0;
                    if (at.y == 0) sweeps[own->machine] += own->sweeps;
                    STORE
                }
            }
        }
        LEAPS
    }
}
