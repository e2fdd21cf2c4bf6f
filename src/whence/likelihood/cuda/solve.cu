// What it is worth to enter each row of a world, for every state of every machine: Gauss-Seidel value iteration, and
// Anderson's extrapolation after every two sweeps.
//
// A row is a state of the world, or a hub of a deterministic one. Entering it is worth z = r + g v(target) where it has a
// label and z = g v where not, with v the best over its actions of the expected z of what follows, and at least `least`.
// Rows from `swept` on lead to swept rows alone and are worked out once, at the end, by `fill_places`.
//
// Compiled with WINDOW (rounds that are combined), WIDE (1: several outcomes an action), IN_SHARED (1: iterates there).

#define PATIENCE 30
#define PAUSE 10
#define REPEAT 2

struct Rows {
    const int *label;
    const double *least;
    const int *first;   // of the actions of each row
    const int *entries; // where the outcomes of each action begin; not read unless WIDE
    const int *after;   // the row of each outcome
    const double *weight;
};

__device__ inline double best_action(const Rows &world, const double *x, Int row, int lane) {
    double best = world.least[row];
    int end = world.first[row + 1];
    for (int pair = world.first[row]; pair < end; pair++) {
#if WIDE
        double q = 0.0;
        int last = world.entries[pair + 1];
        for (int e = world.entries[pair]; e < last; e++) q += world.weight[e] * x[(Int)world.after[e] * WARP + lane];
#else
        double q = world.weight[pair] * x[(Int)world.after[pair] * WARP + lane];
#endif
        best = larger(best, q);
    }
    return best;
}

__device__ inline double entered(
    const Rows &world, const double *x, Int row, double discount, unsigned mask, int lane, const int *to, const double *paid
) {
    double best = best_action(world, x, row, lane);
    int label = world.label[row];
    if (label < 0) return discount * best;
    return paid[label * WARP + lane] + discount * __shfl_sync(mask, best, to[label * WARP + lane]);
}

// Weights that sum to 1 and make the combined change of the last `used` rounds least; false where that went wrong.
__device__ inline bool weigh(const double *gram, int latest, int used, int lane, double *weights) {
    double factor[WINDOW][WINDOW];
    int k = used - 1;
#define GRAM(i, j) gram[((i) * WINDOW + (j)) * WARP + lane]
    for (int i = 0; i < k; i++) {
        int a = (latest + 2 * WINDOW - i - 1) % WINDOW;
        double right = GRAM(latest, latest) - GRAM(latest, a);
        for (int j = 0; j <= i; j++) {
            int b = (latest + 2 * WINDOW - j - 1) % WINDOW;
            double value = right - GRAM(latest, b) + GRAM(a, b);
            if (j == i) value += 1e-13 * value + 1e-300;
            for (int c = 0; c < j; c++) value -= factor[i][c] * factor[j][c] * factor[c][c];
            if (j < i)
                factor[i][j] = value / factor[j][j];
            else if (value > 1e-290)
                factor[i][i] = value;
            else
                return false;
        }
        for (int c = 0; c < i; c++) right -= factor[i][c] * weights[c + 1];
        weights[i + 1] = right;
    }
    double rest = 1.0;
    for (int i = k - 1; i >= 0; i--) {
        double value = weights[i + 1] / factor[i][i];
        for (int c = i + 1; c < k; c++) value -= factor[c][i] * weights[c + 1];
        if (!(fabs(value) < 1e6)) return false;
        weights[i + 1] = value;
        rest -= value;
    }
    weights[0] = rest;
    return true;
#undef GRAM
}

// How the extrapolation of a machine fares.
struct Watch {
    double reached, last;
    Int pause;
    int used, since, pauses;
};

__device__ inline void renew(Watch *watch) {
    watch->used = watch->since = 0;
    watch->reached = watch->last = 1e308;
}

__device__ inline bool may_extrapolate(Watch *watch, double change) {
    if (change < 0.5 * watch->reached) {
        watch->reached = change;
        watch->since = 0;
    } else
        watch->since++;
    if (watch->pause > 0) {
        if (--watch->pause == 0) renew(watch);
        return false;
    }
    if (watch->since > PATIENCE) {
        watch->pause = (Int)PAUSE << (watch->pauses < 40 ? watch->pauses : 40);
        watch->pauses++;
        watch->since = 0;
        return false;
    }
    if (change > 2.0 * watch->last) watch->used = 0;
    watch->last = change;
    if (watch->used < WINDOW) watch->used++;
    return true;
}

extern "C" __global__ void __launch_bounds__(WARP) solve_rows(
    Int machines, Int n, Int m, Int width, Int rows, Int swept, Int most_rounds, double discount, const int *columns,
    const int *label, const double *least, const int *first, const int *entries, const int *after, const double *weight,
    const Byte *targets, const double *pays, const double *tolerance, double *z, double *history, Int *sweeps
) {
    ROOM;
    Rows world = {label, least, first, entries, after, weight};
    double *paid = room;
    double *gram = paid + m * WARP;
    double *shared = gram + WINDOW * WINDOW * WARP;
#if IN_SHARED
    int *to = (int *)(shared + swept * WARP);
#else
    int *to = (int *)shared;
#endif
    Int groups = (machines + WARP / n - 1) / (WARP / n);
    double *steps = history + blockIdx.x * 2 * WINDOW * swept * WARP;
    double *values = steps + WINDOW * swept * WARP;
    for (Int group = blockIdx.x; group < groups; group += gridDim.x) {
        Place at = place_of(group, n, machines);
        int lane = at.lane;
        double *out = z + group * rows * WARP;
#if IN_SHARED
        double *x = shared;
#else
        double *x = out;
#endif
        seat_machine(at, n, m, width, columns, targets, pays, to, paid);
        double low, high;
        bounds_of(0xffffffffu, at, n, m, discount, paid, &low, &high);
        double aim = at.here ? tolerance[at.machine] * (1.0 - discount) : 0.0;
        for (Int row = 0; row < swept; row++) x[row * WARP + lane] = 0.0;
        Watch watch;
        watch.pause = 0;
        watch.pauses = 0;
        renew(&watch);
        Int rounds = 0;
        int slot = 0;
        bool going = at.here;
        unsigned mask = __ballot_sync(0xffffffffu, going);
        while (mask) {
            if (going) {
                double *step = steps + slot * swept * WARP, *value = values + slot * swept * WARP;
                double change = 0.0, size = 0.0;
                for (Int row = 0; row < swept; row++) step[row * WARP + lane] = x[row * WARP + lane];
                for (int repeat = 0; repeat < REPEAT; repeat++) {
                    change = size = 0.0;
                    for (Int row = 0; row < swept; row++) {
                        double fresh = entered(world, x, row, discount, mask, lane, to, paid);
                        change = larger(change, fabs(fresh - x[row * WARP + lane]));
                        size = larger(size, fabs(fresh));
                        x[row * WARP + lane] = fresh;
                    }
                }
                rounds++;
                change = largest_of(mask, change, at, n);
                size = largest_of(mask, size, at, n);
                bool rounded = change <= 4.0 * EPSILON * size ||
                               (change <= 64.0 * EPSILON * size && watch.since > WINDOW);
                if (change <= aim || rounded || rounds > most_rounds) going = false;
                double dots[WINDOW];
                for (int k = 0; k < WINDOW; k++) dots[k] = 0.0;
                for (Int row = 0; row < swept; row++) {
                    double now = x[row * WARP + lane], moved = now - step[row * WARP + lane];
                    step[row * WARP + lane] = moved;
                    value[row * WARP + lane] = now;
#pragma unroll
                    for (int k = 0; k < WINDOW; k++) dots[k] += moved * steps[(k * swept + row) * WARP + lane];
                }
#pragma unroll
                for (int k = 0; k < WINDOW; k++) {
                    double total = sum_of(mask, dots[k], at, n);
                    gram[(slot * WINDOW + k) * WARP + lane] = total;
                    gram[(k * WINDOW + slot) * WARP + lane] = total;
                }
                double weights[WINDOW];
                if (going && may_extrapolate(&watch, change) && watch.used > 1) {
                    if (weigh(gram, slot, watch.used, lane, weights)) {
                        for (Int row = 0; row < swept; row++) {
                            double total = 0.0;
                            for (int k = 0; k < watch.used; k++) {
                                int old = (slot + WINDOW - k) % WINDOW;
                                total += weights[k] * values[(old * swept + row) * WARP + lane];
                            }
                            x[row * WARP + lane] = total < low ? low : total > high ? high : total;
                        }
                    } else
                        watch.used = 0;
                }
            }
            slot = (slot + 1) % WINDOW;
            mask = __ballot_sync(0xffffffffu, going);
        }
        if (at.here && at.y == 0) sweeps[at.machine] = REPEAT * rounds;
#if IN_SHARED
        for (Int row = 0; row < swept; row++) out[row * WARP + lane] = x[row * WARP + lane];
#endif
    }
}

// Work out the rows from `swept` on: none has a label or several outcomes an action, and each leads to swept rows alone.
struct Edge {
    double weight;
    Int after;
};

extern "C" __global__ void __launch_bounds__(WARP) fill_places(
    Int groups, Int rows, Int swept, Int fast, double discount, const double *__restrict__ least, const int *__restrict__ first,
    const Edge *__restrict__ edges, double *z
) {
    ROOM;
    int lane = threadIdx.x;
    for (Int group = blockIdx.x; group < groups; group += gridDim.x) {
        double *out = z + group * rows * WARP;
        const double *x = fast ? room : out;
        for (Int row = 0; fast && row < swept; row++) room[row * WARP + lane] = out[row * WARP + lane];
        for (Int row = swept; row < rows; row++) {
            double best = least[row];
            int end = first[row + 1];
#pragma unroll 4
            for (int e = first[row]; e < end; e++) {
                Edge edge = edges[e];
                best = larger(best, edge.weight * x[edge.after * WARP + lane]);
            }
            out[row * WARP + lane] = discount * best;
        }
    }
}
