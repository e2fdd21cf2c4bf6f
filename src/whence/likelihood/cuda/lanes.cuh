// What all kernels share. A warp holds 32 / n machines of n states side by side: a lane is one state of one machine,
// so that every lane does the same in the same row of the world, and only labels lead from lane to lane.

#define WARP 32
typedef long long Int;
typedef unsigned char Byte;

#ifdef EMULATED
#define ROOM double *room = emulated_room()
#else
#define ROOM extern __shared__ double room[]
#endif

#define EPSILON 2.220446049250313e-16

// One entry of the evidence: how often an action was taken after a history.
struct Cell {
    int node;
    int count;
};

// Which state of which machine a lane is; those of no machine have `here` false.
struct Place {
    int lane, y, base, seat, per;
    Int machine;
    bool here;
};

__device__ inline Place place_of(Int group, Int n, Int machines) {
    Place at;
    at.lane = threadIdx.x;
    at.per = WARP / (int)n;
    at.seat = at.lane / (int)n;
    at.y = at.lane % (int)n;
    at.base = at.seat * (int)n;
    at.machine = group * at.per + at.seat;
    at.here = at.seat < at.per && at.machine < machines;
    return at;
}

__device__ inline double larger(double one, double other) { return one > other ? one : other; }

// The largest value among the lanes of each machine.
__device__ inline double largest_of(unsigned mask, double value, Place at, int n) {
    double most = value;
    for (int i = 0; i < n; i++) most = larger(most, __shfl_sync(mask, value, (at.base + i) & 31));
    return most;
}

// The sum of the values of the lanes of each machine, in the order of its states.
__device__ inline double sum_of(unsigned mask, double value, Place at, int n) {
    double total = 0.0;
    for (int i = 0; i < n; i++) total += __shfl_sync(mask, value, (at.base + i) & 31);
    return total;
}

// A machine's arrows by symbol of the world: the lane that each leads to, and what it pays.
__device__ inline void seat_machine(
    Place at, int n, int m, int width, const int *columns, const Byte *targets, const double *pays, int *to, double *paid
) {
    for (int k = 0; k < m; k++) {
        Int entry = (at.machine * n + at.y) * width + columns[k];
        to[k * WARP + at.lane] = at.here ? at.base + targets[entry] : at.lane;
        paid[k * WARP + at.lane] = at.here ? pays[entry] : 0.0;
    }
}

// The least and the most that anything can be worth: the worst and the best pay for ever, or nothing.
__device__ inline void bounds_of(
    unsigned mask, Place at, int n, int m, double discount, const double *paid, double *low, double *high
) {
    double worst = 0.0, best = 0.0;
    for (int k = 0; k < m; k++) {
        worst = larger(worst, -paid[k * WARP + at.lane]);
        best = larger(best, paid[k * WARP + at.lane]);
    }
    *low = -largest_of(mask, worst, at, n) / (1.0 - discount);
    *high = largest_of(mask, best, at, n) / (1.0 - discount);
}
