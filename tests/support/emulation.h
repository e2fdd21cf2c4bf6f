// CUDA's words for a computer without a card: the 32 lanes of a warp are coroutines of one thread, which wait for each
// other where a warp exchanges values. Included before a kernel's source.
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <utility>
#include <vector>

#define EMULATED 1
#define __global__
#define __device__
#define __launch_bounds__(...)
using std::isinf;

struct Index {
    unsigned x;
};
static Index threadIdx, blockIdx, gridDim, blockDim = {32};
static std::vector<double> emulated_shared;
static double *emulated_room() { return emulated_shared.data(); }

namespace warp {
const int LANES = 32;
const size_t STACK = 1 << 16;
enum State { RUNNING, WAITING, DONE };
static ucontext_t lanes[LANES];
static jmp_buf home, inside[LANES]; // switches by them ask the system nothing
static State state[LANES];
static unsigned masks[LANES];
static uint64_t offered[LANES];
static std::vector<char> stacks(LANES *STACK);

// Offer a value to the lanes of a mask, and wait until each of them has offered its own.
static void meet(unsigned mask, uint64_t value) {
    int lane = threadIdx.x;
    if (!(mask >> lane & 1)) abort(); // a lane that is not in its own mask
    offered[lane] = value;
    masks[lane] = mask;
    state[lane] = WAITING;
    if (!_setjmp(inside[lane])) _longjmp(home, 1);
}
} // namespace warp

// Values are read after all have met, so that a second meeting is needed before any is overwritten.
template <class T> static T __shfl_sync(unsigned mask, T value, int from) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    warp::meet(mask, bits);
    bits = warp::offered[from & 31];
    if (!(mask >> (from & 31) & 1)) abort(); // reads from a lane that does not take part
    warp::meet(mask, warp::offered[threadIdx.x]);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static unsigned __ballot_sync(unsigned mask, bool yes) {
    warp::meet(mask, yes);
    unsigned result = 0;
    for (int lane = 0; lane < warp::LANES; lane++)
        if (mask >> lane & 1 && warp::offered[lane]) result |= 1u << lane;
    warp::meet(mask, yes);
    return result;
}

static void __syncwarp() { warp::meet(0xffffffffu, 0); }

static int __popc(unsigned bits) { return __builtin_popcount(bits); }

static int __double2hiint(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 32);
}

static double __hiloint2double(int high, int low) {
    int64_t bits = (int64_t)high << 32 | (uint32_t)low;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

template <class T> static T atomicAdd(T *at, T more) {
    T old = *at;
    *at += more;
    return old;
}

namespace warp {
static void (*body)(void *);
static void *given;

static void lane_main() {
    body(given);
    state[threadIdx.x] = DONE;
    _longjmp(home, 1);
}

static void resume(int lane, bool begun) {
    threadIdx.x = lane;
    if (_setjmp(home)) return;
    if (begun) _longjmp(inside[lane], 1);
    setcontext(&lanes[lane]);
}

static bool ready(int lane) {
    if (state[lane] != WAITING) return state[lane] == RUNNING;
    for (int other = 0; other < LANES; other++) {
        if (!(masks[lane] >> other & 1)) continue;
        if (state[other] == RUNNING || state[other] == DONE || masks[other] != masks[lane]) return false;
    }
    return true;
}

static void run_block() {
    static bool begun[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        getcontext(&lanes[lane]);
        lanes[lane].uc_stack.ss_sp = stacks.data() + lane * STACK;
        lanes[lane].uc_stack.ss_size = STACK;
        lanes[lane].uc_link = nullptr;
        makecontext(&lanes[lane], lane_main, 0);
        state[lane] = RUNNING;
        begun[lane] = false;
    }
    for (;;) {
        bool moved = false, left = false;
        for (int lane = 0; lane < LANES; lane++)
            while (state[lane] == RUNNING) {
                resume(lane, begun[lane]);
                begun[lane] = moved = true;
            }
        for (int lane = 0; lane < LANES; lane++) {
            left |= state[lane] != DONE;
            if (state[lane] == WAITING && ready(lane)) {
                unsigned mask = masks[lane];
                for (int other = 0; other < LANES; other++)
                    if (mask >> other & 1) state[other] = RUNNING;
                moved = true;
            }
        }
        if (!left) return;
        if (!moved) abort(); // lanes that wait for each other for ever
    }
}

template <class... A, size_t... I> static void call(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
    kernel(*(A *)arguments[I]...);
}

template <class... A> static void launch(void (*kernel)(A...), int blocks, size_t shared, void **arguments) {
    struct Job {
        void (*kernel)(A...);
        void **arguments;
    } job = {kernel, arguments};
    emulated_shared.assign(shared / 8 + 1, 0.0);
    given = &job;
    body = [](void *it) {
        Job *own = (Job *)it;
        call(own->kernel, own->arguments, std::index_sequence_for<A...>());
    };
    gridDim.x = blocks;
    for (int block = 0; block < blocks; block++) {
        blockIdx.x = block;
        run_block();
    }
}
} // namespace warp

#define KERNEL(name) \
    extern "C" void launch_##name(int blocks, size_t shared, void **arguments) { warp::launch(name, blocks, shared, arguments); }
