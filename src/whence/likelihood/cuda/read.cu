// Log likelihoods from what it is worth to enter each row: the steps of every history are shared out among the states of
// each machine, and each lane adds up those that fell to it, state by state and action by action.
//
// Compiled with WIDE (1: several outcomes an action), KEPT (how many actions' values a lane keeps; 0: any number) and FAST (1:
// the states that machines are in after each history are kept in fast memory, behind the arrows).

#define TIE 1e-9
#define RESOLUTION 1e-10

struct Choices {
    const int *first;   // of the actions of each visited state
    const int *entries; // where the outcomes of each action begin; not read unless WIDE
    const int *after;   // the row of each outcome
    const double *weight;
};

__device__ inline double q_of(const Choices &world, const double *z, int choice, int lane) {
#if WIDE
    double q = 0.0;
    int last = world.entries[choice + 1];
    for (int e = world.entries[choice]; e < last; e++) q += world.weight[e] * z[(Int)world.after[e] * WARP + lane];
    return q;
#else
    return z[(Int)world.after[choice] * WARP + lane];
#endif
}

// What an expert thinks of the actions of one state. Their Q are kept where there are at most KEPT of them.
struct Mood {
    double alpha, lapse, best, log_total, share, blind;
    bool sure;
#if KEPT
    double q[KEPT];
#endif
};

#if KEPT
#define EACH(i, choice) _Pragma("unroll") for (int i = 0, choice = begin; i < KEPT; i++, choice++) if (choice < end)
#define Q(i, choice) mood.q[i]
#else
#define EACH(i, choice) for (int i = 0, choice = begin; choice < end; i++, choice++)
#define Q(i, choice) q_of(world, z, choice, lane)
#endif

__device__ inline void look(
    const Choices &world, const double *z, int begin, int end, int lane, double alpha, double lapse, Mood &mood
) {
    mood.alpha = alpha;
    mood.lapse = lapse;
    mood.sure = isinf(alpha);
    mood.best = log(0.0);
    mood.blind = lapse / (end - begin);
#if KEPT
    EACH(i, choice) mood.q[i] = q_of(world, z, choice, lane);
#endif
    EACH(i, choice) mood.best = larger(mood.best, Q(i, choice));
    double total = 0.0;
    if (mood.sure) {
        mood.log_total = mood.best - larger(TIE, RESOLUTION * fabs(mood.best));
        EACH(i, choice) total += Q(i, choice) >= mood.log_total;
        mood.share = (1.0 - lapse) / total + mood.blind;
    } else {
        EACH(i, choice) total += exp(alpha * (Q(i, choice) - mood.best));
        mood.log_total = log(total);
    }
}

__device__ inline double log_chance(const Mood &mood, double q) {
    if (mood.sure) return log(q >= mood.log_total ? mood.share : mood.blind);
    double own = mood.alpha * (q - mood.best) - mood.log_total;
    if (mood.lapse == 0.0) return own;
    return log((1.0 - mood.lapse) * exp(own) + mood.blind);
}

// How many of some steps were taken in state y of the machine in a seat.
__device__ inline int steps_in(
    const Cell *__restrict__ cells, int begin, int end, const Byte *memory, int per, int seat, int y
) {
    int count = 0, c = begin;
    for (; c + 8 <= end; c += 8) {
        Cell cell[8];
        Byte state[8];
#pragma unroll
        for (int i = 0; i < 8; i++) cell[i] = cells[c + i];
#pragma unroll
        for (int i = 0; i < 8; i++) state[i] = memory[(Int)cell[i].node * per + seat];
#pragma unroll
        for (int i = 0; i < 8; i++) count += state[i] == y ? cell[i].count : 0;
    }
    for (; c < end; c++) count += memory[(Int)cells[c].node * per + seat] == y ? cells[c].count : 0;
    return count;
}

// Write the state of each machine after every history.
__device__ inline void walk(
    Int nodes, Place at, int n, int m, int width, const int *columns, const int *parent, const int *symbol,
    const Byte *targets, Byte *arrows, Byte *memory
) {
    for (int k = 0; k < m; k++)
        arrows[k * WARP + at.lane] = at.here ? targets[(at.machine * n + at.y) * width + columns[k]] : 0;
    __syncwarp();
    if (at.seat >= at.per) return;
    int y = 0;
    for (Int node = 0; node < nodes; node++) {
        if (node > 0) {
            Int above = parent[node];
            if (above != node - 1) y = memory[above * at.per + at.seat];
            y = arrows[symbol[node] * WARP + at.base + y];
        }
        memory[node * at.per + at.seat] = y;
    }
}

extern "C" __global__ void __launch_bounds__(WARP) read_cells(
    Int machines, Int n, Int m, Int width, Int rows, Int nodes, Int many, const int *columns, const int *parent,
    const int *symbol, const int *first, const int *entries, const int *after, const double *weight, const int *first_cell,
    const Cell *cells, const Byte *targets, const double *worth, const Int *first_expert, const double *alpha,
    const double *lapse, Byte *memories, double *out
) {
    ROOM;
    Choices world = {first, entries, after, weight};
    Int groups = (machines + WARP / n - 1) / (WARP / n);
#if FAST
    Byte *memory = (Byte *)room + m * WARP;
#else
    Byte *memory = memories + blockIdx.x * nodes * WARP;
#endif
    for (Int group = blockIdx.x; group < groups; group += gridDim.x) {
        Place at = place_of(group, n, machines);
        const double *z = worth + group * rows * WARP;
        __syncwarp();
        walk(nodes, at, n, m, width, columns, parent, symbol, targets, (Byte *)room, memory);
        __syncwarp();
        Int expert = at.here ? first_expert[at.machine] : 0, last = at.here ? first_expert[at.machine + 1] : 0;
        while (__ballot_sync(0xffffffffu, expert < last)) {
            double sharp = expert < last ? alpha[expert] : 1.0, slack = expert < last ? lapse[expert] : 0.0;
            double total = 0.0, lost = 0.0;
            for (int u = 0; u < many; u++) {
                Mood mood;
                int begin = first[u], end = first[u + 1], lane = at.lane;
                look(world, z, begin, end, lane, sharp, slack, mood);
                EACH(i, choice) {
                    int from = first_cell[choice], to = first_cell[choice + 1];
                    int count = at.seat < at.per ? steps_in(cells, from, to, memory, at.per, at.seat, at.y) : 0;
                    if (count == 0) continue;
                    double part = count * log_chance(mood, Q(i, choice));
                    double corrected = part - lost, after_it = total + corrected;
                    lost = isinf(after_it) ? 0.0 : (after_it - total) - corrected;
                    total = after_it;
                }
            }
            __syncwarp();
            total = sum_of(0xffffffffu, total, at, n);
            if (expert < last && at.y == 0) out[expert] = total;
            expert++;
        }
    }
}

extern "C" __global__ void __launch_bounds__(WARP) visit_states(
    Int machines, Int n, Int rows, Int many, Int actions, const int *first, const int *action, const int *entries,
    const int *after, const double *weight, const double *z, double *out
) {
    Choices world = {first, entries, after, weight};
    Int groups = (machines + WARP / n - 1) / (WARP / n);
    for (Int group = blockIdx.x; group < groups; group += gridDim.x) {
        Place at = place_of(group, n, machines);
        if (!at.here) continue;
        const double *own = z + group * rows * WARP;
        double *q = out + (at.machine * n + at.y) * actions * many;
        for (Int i = 0; i < actions * many; i++) q[i] = log(0.0);
        for (int u = 0; u < many; u++)
            for (int choice = first[u]; choice < first[u + 1]; choice++)
                q[action[choice] * many + u] = q_of(world, own, choice, at.lane);
    }
}
