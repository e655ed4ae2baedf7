// Fetching weights into the caches ahead of their use: the second level far ahead, the first level near.
//
// One level alone is limited by the few lines the first level can have on their way. Distances are in
// bytes, measured on two cores with huge pages (docs/benchmarks.md): 20 GB/s with one level 3456 ahead,
// 29 GB/s with these, 33 GB/s for reading alone.
#pragma once

#include <cstddef>

#if !defined(__GNUC__)
#include <immintrin.h>
#endif

namespace gannet {

constexpr std::size_t kLine = 64;
constexpr std::size_t kNear = 576;
constexpr std::size_t kFar = 4608;

inline void fetch_near(const std::byte* p) {
#if defined(__GNUC__)
    __builtin_prefetch(p, 0, 3);
#else
    _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T0);
#endif
}

inline void fetch_far(const std::byte* p) {
#if defined(__GNUC__)
    __builtin_prefetch(p, 0, 2);
#else
    _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T1);
#endif
}

// What reading `bytes` at p from now on wants fetched for the reads that follow it.
inline void read_ahead(const std::byte* p, std::size_t bytes) {
    for (std::size_t b = 0; b < bytes; b += kLine) {
        fetch_near(p + kNear + b);
        fetch_far(p + kFar + b);
    }
}

// At the start of a stretch, which nothing has fetched yet.
inline void begin_reading(const std::byte* p) {
    for (std::size_t b = 0; b < kFar; b += kLine) fetch_far(p + b);
}

}  // namespace gannet
