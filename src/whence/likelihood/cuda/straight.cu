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
// `straight.py` writes what comes before: ROWS declares the variables x0, x1, ..., SWEEP sweeps over them, SIZE finds the
// largest, STORE writes them, LEAPS takes them on, LOAD declares and reads them; ROWS32 and so on do so with y0, y1, ...
//
// There are two kernels, since the code of both sweeps together would not stay in the cache for instructions.

#define LEAP 8
#define STEP 2 // sweeps of a step that is taken on: two, since changes may swing
#define SETTLE(x, kind, most, fresh) \
    { \
        kind now = fresh; \
        change = most(change, fabs(now - x)); \
        x = now; \
    }
#define PUT(x, best) SETTLE(x, double, larger, best)
#define PUT32(x, best) SETTLE(x, float, fmaxf, best)
#define ENTER(x, best, k) SETTLE(x, double, larger, paid[k * WARP + lane] + __shfl_sync(mask, best, to[k * WARP + lane]))
#define ENTER32(x, best, k) SETTLE(x, float, fmaxf, paid32[k * WARP + lane] + __shfl_sync(mask, best, to[k * WARP + lane]))
#define AGAIN(k, step) again[((step - 1) * m + k) * WARP + lane]
#define AGAIN32(k, step) again32[((step - 1) * m + k) * WARP + lane]
#define MEASURE(x) size = larger(size, fabs(x));
#define FROM(row, x) double x = rough[row * WARP + lane];
#define KEEP(row, x) out[row * WARP + lane] = x;
#define LEAD(row, x) x += ahead * (x - out[row * WARP + lane]);

// How a machine's changes shrink.
struct Pace {
    float last, began, leapt; // the change of the last sweep, of that before the step to be taken on, of the last leap
    int sweeps, wait, pause;  // leaps to be left out, now and after the next failure
};

// Return whether the values are to be kept before the next sweep, from where the step to be taken on begins.
__device__ inline bool begins(Pace &pace) {
    if (pace.sweeps % LEAP != LEAP - STEP) return false;
    pace.began = pace.last;
    return true;
}

// Note the change of a sweep; return how far to take the step on, in units of it, where it is time to leap.
__device__ inline float paced(Pace &pace, float change) {
    pace.sweeps++;
    pace.last = change;
    int after = pace.sweeps % LEAP;
    if (after == 2 && pace.sweeps > LEAP && change > 0.7f * pace.leapt && pace.wait == 0) {
        pace.wait = pace.pause;
        pace.pause *= 2;
    }
    if (after != 0) return 0.0f;
    pace.leapt = change;
    if (pace.wait > 0) {
        pace.wait--;
        return 0.0f;
    }
    float ratio = change / pace.began;
    return ratio > 0.05f && ratio < 0.99f ? ratio / (1.0f - ratio) : 0.0f;
}

// What it is worth to read label k for ever, once in so many steps, from each state of a machine: a sum doubled in length
// until what is left out is nothing.
__device__ inline double read_for_ever(int k, int step, double discount, int lane, const int *to, const double *paid) {
    double between = step == 1 ? 1.0 : discount, ratio = between * discount;
    double total = between * paid[k * WARP + lane];
    int next = to[k * WARP + lane];
    while (ratio > 1e-18) {
        total += ratio * __shfl_sync(0xffffffffu, total, next);
        next = __shfl_sync(0xffffffffu, next, next);
        ratio *= ratio;
    }
    return total;
}

// What both kernels are given, and where a block keeps its machines.
#define GIVEN \
    Int machines, Int n, Int m, Int width, Int rows, Int swept, Int most_sweeps, double discount, const int *columns, \
        const int *label, const double *least, const int *first, const int *entries, const int *after, \
        const double *weight, const Byte *targets, const double *pays, const double *tolerance, double *z, Int *sweeps

// The sweeps in 32-bit numbers.
extern "C" __global__ void __launch_bounds__(WARP, 12) solve_roughly(GIVEN) {
    ROOM;
    double *paid = room;
    int *to = (int *)(paid + m * WARP);
    float *paid32 = (float *)(to + m * WARP);
    float *again32 = paid32 + m * WARP;
    Int groups = (machines + WARP / n - 1) / (WARP / n);
    for (Int group = blockIdx.x; group < groups; group += gridDim.x) {
        Place at = place_of(group, n, machines);
        int lane = at.lane;
        float *out = (float *)(z + group * rows * WARP);
        seat_machine(at, n, m, width, columns, targets, pays, to, paid);
        for (int k = 0; k < m; k++) {
            paid32[k * WARP + lane] = paid[k * WARP + lane];
            for (int step = 1; LOOPS && step < 3; step++)
                AGAIN32(k, step) = read_for_ever(k, step, discount, lane, to, paid);
        }
        double low, high;
        bounds_of(0xffffffffu, at, n, m, discount, paid, &low, &high);
        double aim = at.here ? tolerance[at.machine] * (1.0 - discount) : 0.0;
        float enough = larger(aim, 4e-7 * larger(high, -low));
        ROWS32
        Pace pace = {1e30f, 1e30f, 1e30f, 0, 0, 1};
        bool going = at.here;
        unsigned mask = __ballot_sync(0xffffffffu, going);
        while (mask) {
            if (going) {
                float change = 0.0f;
                if (begins(pace)) {
                    STORE32
                }
                SWEEP32
                change = largest_of(mask, change, at, n);
                float ahead = paced(pace, change);
                if (change <= enough || pace.sweeps >= most_sweeps) going = false;
                if (going && ahead > 0.0f) {
                    LEAP32
                }
            }
            mask = __ballot_sync(0xffffffffu, going);
        }
        if (at.here && at.y == 0) sweeps[at.machine] = pace.sweeps;
        STORE32
    }
}

// The sweeps in 64-bit numbers, from where the others ended.
extern "C" __global__ void __launch_bounds__(WARP) solve_finely(GIVEN) {
    ROOM;
    double *paid = room;
    double *again = paid + m * WARP;
    int *to = (int *)(again + 2 * m * WARP);
    Int groups = (machines + WARP / n - 1) / (WARP / n);
    for (Int group = blockIdx.x; group < groups; group += gridDim.x) {
        Place at = place_of(group, n, machines);
        int lane = at.lane;
        double *out = z + group * rows * WARP;
        seat_machine(at, n, m, width, columns, targets, pays, to, paid);
        for (int k = 0; k < m; k++)
            for (int step = 1; LOOPS && step < 3; step++)
                AGAIN(k, step) = read_for_ever(k, step, discount, lane, to, paid);
        double low, high;
        bounds_of(0xffffffffu, at, n, m, discount, paid, &low, &high);
        double bound = larger(high, -low);
        double aim = at.here ? tolerance[at.machine] * (1.0 - discount) : 0.0;
        const float *rough = (const float *)out;
        LOAD
        __syncwarp(); // the 32-bit numbers lie where 64-bit ones will be written
        Pace pace = {1e30f, 1e30f, 1e30f, 0, 0, 1};
        bool going = at.here;
        unsigned mask = __ballot_sync(0xffffffffu, going);
        while (mask) {
            if (going) {
                double change = 0.0;
                if (begins(pace)) {
                    STORE
                }
                SWEEP
                change = largest_of(mask, change, at, n);
                double ahead = paced(pace, change);
                if (change <= aim || pace.sweeps >= most_sweeps) going = false;
                if (__ballot_sync(mask, going && change <= 64.0 * EPSILON * bound)) {
                    double size = 0.0;
                    SIZE
                    if (change <= 4.0 * EPSILON * largest_of(mask, size, at, n)) going = false;
                }
                if (going && ahead > 0.0) {
                    LEAPS
                }
            }
            mask = __ballot_sync(0xffffffffu, going);
        }
        if (at.here && at.y == 0) sweeps[at.machine] += pace.sweeps;
        STORE
    }
}
