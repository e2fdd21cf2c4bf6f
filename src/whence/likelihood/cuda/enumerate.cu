// Machines by number, and which of them matter: the whole space is written, weighed and sifted on the card.

// Write the valid canonical machines number start, start + 1, ... of n states, and the log prior of each.
//
// ways[p][k] counts how the entries from p on can be filled with k states mentioned before; see the enumeration of
// spaces for the order. `values` are the levels, 0 first; by_zeros and by_loops are what the prior gives for so many.
extern "C" __global__ void __launch_bounds__(WARP) unrank(
    Int count, Int start, Int n, Int m, Int n_levels, Int payments, const Int *ways, const double *values,
    const double *by_zeros, const double *by_loops, Byte *targets, double *pays, double *log_prior
) {
    Int entries = n * m;
    for (Int i = (Int)blockIdx.x * WARP + threadIdx.x; i < count; i += (Int)gridDim.x * WARP) {
        Int rank = (start + i) / payments, pay = (start + i) % payments + 1;
        Int known = 1;
        int loops = 0, zeros = 0;
        for (Int p = 0; p < entries; p++) {
            Int block = ways[(p + 1) * (n + 2) + known];
            Int target = known;
            if (rank < known * block) {
                target = rank / block;
                rank -= target * block;
            } else {
                rank -= known * block;
                known++;
            }
            loops += target == p / m;
            targets[i * entries + p] = target;
        }
        for (Int p = entries - 1; p >= 0; p--) {
            Int digit = pay % n_levels;
            pay /= n_levels;
            zeros += digit == 0;
            pays[i * entries + p] = values[digit];
        }
        log_prior[i] = by_zeros[zeros] + by_loops[loops];
    }
}

// Add one world's log likelihoods to the others'.
extern "C" __global__ void __launch_bounds__(WARP) add_to(Int count, const double *more, double *total) {
    for (Int i = (Int)blockIdx.x * WARP + threadIdx.x; i < count; i += (Int)gridDim.x * WARP) total[i] += more[i];
}

// Write the log weight of each machine, and the largest of each block.
extern "C" __global__ void __launch_bounds__(WARP) weigh_all(
    Int count, double temperature, double constant, const double *log_likelihood, const double *log_prior, double *weight,
    double *most
) {
    double best = log(0.0);
    for (Int i = (Int)blockIdx.x * WARP + threadIdx.x; i < count; i += (Int)gridDim.x * WARP) {
        weight[i] = log_likelihood[i] / temperature + (log_prior[i] + constant);
        best = larger(best, weight[i]);
    }
    for (int by = WARP / 2; by > 0; by /= 2) best = larger(best, __shfl_sync(0xffffffffu, best, (threadIdx.x + by) & 31));
    if (threadIdx.x == 0) most[blockIdx.x] = best;
}

// Take down the machines whose log weight is at least `edge`, in any order, and sum up the weights of the others, in units
// of exp(unit), block by block.
extern "C" __global__ void __launch_bounds__(WARP) sift(
    Int count, double edge, double unit, const double *weight, unsigned long long *found, Int *which, double *rest
) {
    double total = 0.0;
    for (Int i = (Int)blockIdx.x * WARP + threadIdx.x; i < count; i += (Int)gridDim.x * WARP) {
        if (weight[i] >= edge)
            which[atomicAdd(found, 1ull)] = i;
        else
            total += exp(weight[i] - unit);
    }
    for (int by = WARP / 2; by > 0; by /= 2) total += __shfl_sync(0xffffffffu, total, (threadIdx.x + by) & 31);
    if (threadIdx.x == 0) rest[blockIdx.x] = total;
}

// Write some of some numbers.
extern "C" __global__ void __launch_bounds__(WARP) pick(Int count, const Int *which, const double *from, double *to) {
    for (Int i = (Int)blockIdx.x * WARP + threadIdx.x; i < count; i += (Int)gridDim.x * WARP) to[i] = from[which[i]];
}
