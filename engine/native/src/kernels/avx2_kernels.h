// What the kernels for AVX2 share.
//
// They add integers in another order than ggml and do its float operations in its order, so the results are
// the same bits. What they save: ggml multiplies each pair of 16-bit sums by its scale; here two groups of
// weights are woven into one register first, so that one multiplication takes the sums of both. The vector
// is woven likewise, once, when it is packed.
#pragma once

#include <immintrin.h>

#include <cstring>

#include "kernels/blocks.h"
#include "kernels/fast_kernels.h"
#include "kernels/read_ahead.h"

namespace gannet::avx2 {

extern const FastKernel kQ4K;
extern const FastKernel kQ6K;

inline __m256i load(const void* p) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}

inline float sum8(__m256 v) {
    __m128 s = _mm_add_ps(_mm256_extractf128_ps(v, 1), _mm256_castps256_ps128(v));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

inline float sum4(__m128 v) {
    v = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}

inline float half_to_float(std::uint16_t h) {
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(h)));
}

// Two groups woven by 16-bit words: the even words of a with the odd ones of b, and the odd of a with the even of b.
struct Woven {
    __m256i straight;
    __m256i crossed;
};

inline __m256i swap_words(__m256i v) {
    const __m256i swap = _mm256_set1_epi64x(0x0504070601000302LL);
    const __m256i upper_half = _mm256_set_epi64x(0x0808080808080808LL, 0, 0x0808080808080808LL, 0);
    return _mm256_shuffle_epi8(v, _mm256_add_epi8(swap, upper_half));
}

inline Woven weave(__m256i a, __m256i b) {
    return {_mm256_blend_epi16(a, b, 0xAA), swap_words(_mm256_blend_epi16(a, b, 0x55))};
}

// Of a vector: `straight` at to, `crossed` 32 bytes on.
inline void weave(const std::int8_t* a, const std::int8_t* b, std::int8_t* to) {
    const Woven woven = weave(load(a), load(b));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), woven.straight);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 32), woven.crossed);
}

// Sums of four products each: of group a in the even words, of group b in the odd ones.
inline __m256i sums_of_products(const Woven& unsigned_weights, const std::int8_t* vector) {
    return _mm256_add_epi16(_mm256_maddubs_epi16(unsigned_weights.straight, load(vector)),
                            _mm256_maddubs_epi16(unsigned_weights.crossed, load(vector + 32)));
}

inline const std::byte* row_at(const Rows& rows, std::int64_t r) {
    return rows.data + static_cast<std::size_t>(r) * rows.stride;
}

// A kernel's loop for several vectors, four at a time at most: Dots<N>::multiply takes N. Each file's Dots needs a
// name of its own: GCC 12 gives this template external linkage even for one from an unnamed namespace.
template <template <int> class Dots>
void multiply_by_fours(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* const* packed,
                       std::size_t n, float* const* out) {
    for (; n >= 4; n -= 4, packed += 4, out += 4) Dots<4>::multiply(rows, begin, end, packed, out);
    if (n == 3) Dots<3>::multiply(rows, begin, end, packed, out);
    if (n == 2) Dots<2>::multiply(rows, begin, end, packed, out);
    if (n == 1) Dots<1>::multiply(rows, begin, end, packed, out);
}

}  // namespace gannet::avx2
