// Log likelihoods from what it is worth to enter each row: the steps of every history are shared out among the states of
// each machine, and each lane adds up those that fell to it, state by state and action by action.
//
// Compiled with WIDE (1: several outcomes an action).

#define TIE 1e-9
#define RESOLUTION 1e-13

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

// What an expert thinks of the actions of one state.
struct Mood {
    double alpha, lapse, best, log_total, share, blind;
    bool sure;
};

__device__ inline Mood mood_at(const Choices &world, const double *z, int u, int lane, double alpha, double lapse) {
    Mood mood;
    int begin = world.first[u], end = world.first[u + 1];
    mood.alpha = alpha;
    mood.lapse = lapse;
    mood.sure = isinf(alpha);
    mood.best = q_of(world, z, begin, lane);
    for (int choice = begin + 1; choice < end; choice++) mood.best = larger(mood.best, q_of(world, z, choice, lane));
    mood.blind = lapse / (end - begin);
    double total = 0.0;
    if (mood.sure) {
        mood.log_total = mood.best - larger(TIE, RESOLUTION * fabs(mood.best));
        for (int choice = begin; choice < end; choice++) total += q_of(world, z, choice, lane) >= mood.log_total;
        mood.share = (1.0 - lapse) / total + mood.blind;
    } else {
        for (int choice = begin; choice < end; choice++) total += exp(alpha * (q_of(world, z, choice, lane) - mood.best));
        mood.log_total = log(total);
    }
    return mood;
}

__device__ inline double log_chance(const Mood &mood, double q) {
    if (mood.sure) return log(q >= mood.log_total ? mood.share : mood.blind);
    double own = mood.alpha * (q - mood.best) - mood.log_total;
    if (mood.lapse == 0.0) return own;
    return log((1.0 - mood.lapse) * exp(own) + mood.blind);
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
    const Cell *cells, const Byte *targets, const double *z, const Int *first_expert, const double *alpha,
    const double *lapse, Byte *memories, double *out
) {
    ROOM;
    Choices world = {first, entries, after, weight};
    Int groups = (machines + WARP / n - 1) / (WARP / n);
    Byte *memory = memories + blockIdx.x * nodes * WARP;
    for (Int group = blockIdx.x; group < groups; group += gridDim.x) {
        Place at = place_of(group, n, machines);
        const double *own = z + group * rows * WARP;
        __syncwarp();
        walk(nodes, at, n, m, width, columns, parent, symbol, targets, (Byte *)room, memory);
        __syncwarp();
        Int expert = at.here ? first_expert[at.machine] : 0, last = at.here ? first_expert[at.machine + 1] : 0;
        while (__ballot_sync(0xffffffffu, expert < last)) {
            double sharp = expert < last ? alpha[expert] : 1.0, slack = expert < last ? lapse[expert] : 0.0;
            double total = 0.0, lost = 0.0;
            for (int u = 0; u < many; u++) {
                Mood mood = mood_at(world, own, u, at.lane, sharp, slack);
                for (int choice = first[u]; choice < first[u + 1]; choice++) {
                    int begin = first_cell[choice], end = first_cell[choice + 1];
                    if (begin == end) continue;
                    int count = 0;
                    if (at.seat < at.per)
                        for (int c = begin; c < end; c++) {
                            Cell cell = cells[c];
                            count += memory[(Int)cell.node * at.per + at.seat] == at.y ? cell.count : 0;
                        }
                    if (count == 0) continue;
                    double part = count * log_chance(mood, q_of(world, own, choice, at.lane));
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
