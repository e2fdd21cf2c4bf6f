// As solve.cu, for small worlds: one sweep is straight code in which every row is a variable, so that values never leave
// the registers. There is no room for earlier iterates, and none is needed where the discount is not close to 1.
//
// Sweeps in 32-bit numbers come first, as far as they are exact; sweeps in 64-bit numbers go on from there, and they alone
// decide when a machine is done. A sweep is a contraction by the discount whatever it starts from, so that its change
// bounds the error. Where a label can be read again and again, every step or every second one, what that is worth is a
// bound from below that costs nothing: such loops are what plain sweeps are slow on.
//
// After every LEAP sweeps, the last step is taken on as far as a change that shrinks as it did would lead (Aitken); where
// that makes matters worse, it is left out for a while.
//
// `straight.py` writes what comes before: ROWS declares the variables x0, x1, ..., SWEEP sweeps over them, SIZE finds the
// largest, STORE writes them; ROWS32 and SWEEP32 do so with y0, y1, ...; WIDEN turns these into those.

#define LEAP 8
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
#define KEEP(row, x) out[row * WARP + lane] = x;
#define LEAD(row, x) x += ahead * (x - out[row * WARP + lane]);
#define KEEP32(row, x) out32[row * WARP + lane] = x;
#define LEAD32(row, x) x += ahead * (x - out32[row * WARP + lane]);

// How a machine's changes shrink.
struct Pace {
    float last, leapt; // the change of the last sweep, and of the one before the last leap
    int sweeps, wait, pause; // leaps to be left out, now and after the next failure
};

// Note the change of a sweep; return how far to take its step on, in units of it, where it is time to leap.
__device__ inline float paced(Pace &pace, float change) {
    pace.sweeps++;
    int after = pace.sweeps % LEAP;
    if (after == 2 && pace.sweeps > LEAP && change > 0.7f * pace.leapt && pace.wait == 0) {
        pace.wait = pace.pause;
        pace.pause *= 2;
    }
    float ratio = change / pace.last;
    pace.last = change;
    if (after != 0) return 0.0f;
    pace.leapt = change;
    if (pace.wait > 0) {
        pace.wait--;
        return 0.0f;
    }
    return ratio > 0.3f && ratio < 0.995f ? ratio / (1.0f - ratio) : 0.0f;
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

extern "C" __global__ void __launch_bounds__(WARP) solve_straight(
    Int machines, Int n, Int m, Int width, Int rows, Int swept, Int most_sweeps, double discount, const int *columns,
    const int *label, const double *least, const int *first, const int *entries, const int *after, const double *weight,
    const Byte *targets, const double *pays, const double *tolerance, Int rough_sweeps, double *z, Int *sweeps
) {
    ROOM;
    double *paid = room;
    double *again = paid + m * WARP;
    int *to = (int *)(again + 2 * m * WARP);
    float *paid32 = (float *)(to + m * WARP);
    float *again32 = paid32 + m * WARP;
    Int groups = (machines + WARP / n - 1) / (WARP / n);
    for (Int group = blockIdx.x; group < groups; group += gridDim.x) {
        Place at = place_of(group, n, machines);
        int lane = at.lane;
        double *out = z + group * rows * WARP;
        seat_machine(at, n, m, width, columns, targets, pays, to, paid);
        for (int k = 0; k < m; k++) {
            paid32[k * WARP + lane] = paid[k * WARP + lane];
            for (int step = 1; step < 3; step++) {
                double worth = LOOPS ? read_for_ever(k, step, discount, lane, to, paid) : 0.0;
                AGAIN(k, step) = worth;
                AGAIN32(k, step) = worth;
            }
        }
        double low, high;
        bounds_of(0xffffffffu, at, n, m, discount, paid, &low, &high);
        double bound = larger(high, -low);
        double aim = at.here ? tolerance[at.machine] * (1.0 - discount) : 0.0;
        int done = 0;
        bool going = at.here;
        unsigned mask = __ballot_sync(0xffffffffu, going);
        ROWS32
        float enough = larger(aim, 4e-7 * bound);
        float *out32 = (float *)out;
        Pace pace = {1e30f, 1e30f, 0, 0, 1};
        while (mask) {
            if (going) {
                float change = 0.0f;
                bool leaps = LEAPING && pace.sweeps % LEAP == LEAP - 1;
                if (leaps) {
                    STORE32
                }
                SWEEP32
                done++;
                change = largest_of(mask, change, at, n);
                float ahead = paced(pace, change);
                if (change <= enough || done >= rough_sweeps)
                    going = false;
                else if (leaps) {
                    LEAP32
                }
            }
            mask = __ballot_sync(0xffffffffu, going);
        }
        ROWS
        WIDEN
        pace = {1e30f, 1e30f, 0, 0, 1};
        going = at.here;
        mask = __ballot_sync(0xffffffffu, going);
        while (mask) {
            if (going) {
                double change = 0.0;
                bool leaps = LEAPING && pace.sweeps % LEAP == LEAP - 1;
                if (leaps) {
                    STORE
                }
                SWEEP
                done++;
                change = largest_of(mask, change, at, n);
                double ahead = paced(pace, change);
                if (change <= aim || done >= most_sweeps) going = false;
                if (__ballot_sync(mask, going && change <= 64.0 * EPSILON * bound)) {
                    double size = 0.0;
                    SIZE
                    if (change <= 4.0 * EPSILON * largest_of(mask, size, at, n)) going = false;
                }
                if (going && leaps) {
                    LEAPS
                }
            }
            mask = __ballot_sync(0xffffffffu, going);
        }
        if (at.here && at.y == 0) sweeps[at.machine] = done;
        STORE
    }
}
