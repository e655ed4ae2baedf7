#include "kernels/fast_kernels.h"

#if defined(GANNET_X86_KERNELS)
#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif

namespace gannet {
namespace {

#if defined(GANNET_X86_KERNELS)

struct Registers {
    unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf) {
    Registers r;
#if defined(_MSC_VER)
    int out[4];
    __cpuidex(out, static_cast<int>(leaf), static_cast<int>(subleaf));
    r = {unsigned(out[0]), unsigned(out[1]), unsigned(out[2]), unsigned(out[3])};
#else
    __cpuid_count(leaf, subleaf, r.a, r.b, r.c, r.d);
#endif
    return r;
}

// The register states that the operating system saves (XCR0).
unsigned saved_states() {
#if defined(_MSC_VER)
    return static_cast<unsigned>(_xgetbv(0));
#else
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
#endif
}

constexpr bool bit(unsigned word, int n) {
    return (word >> n & 1U) != 0;
}

struct Processor {
    bool avx2 = false;  // with FMA and half floats
    bool avx512vnni = false;
    bool avxvnni = false;
};

Processor detect() {
    Processor p;
    const Registers basic = cpuid(1, 0);
    if (cpuid(0, 0).a < 7 || !bit(basic.c, 27)) return p;  // no XSAVE: no wide registers
    const unsigned states = saved_states();
    const Registers extended = cpuid(7, 0);
    p.avx2 = (states & 0x6U) == 0x6U && bit(extended.b, 5) && bit(basic.c, 12) && bit(basic.c, 29);
    const bool avx512 = (states & 0xE6U) == 0xE6U && bit(extended.b, 16) && bit(extended.b, 30) && bit(extended.b, 31);
    p.avx512vnni = p.avx2 && avx512 && bit(extended.c, 11);
    p.avxvnni = p.avx2 && extended.a >= 1 && bit(cpuid(7, 1).a, 4);
    return p;
}

#endif

}  // namespace

const FastKernel* find_fast_kernel([[maybe_unused]] ggml_type type) {
#if defined(GANNET_X86_KERNELS)
    static const Processor processor = detect();
    if (processor.avx512vnni) return avx512vnni::find(type);
    if (processor.avxvnni) return avxvnni::find(type);
    if (processor.avx2) return avx2::find(type);
#endif
    return nullptr;
}

}  // namespace gannet
