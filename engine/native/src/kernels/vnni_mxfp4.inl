// MXFP4 times bytes; part of vnni_kernels.inl, in its unnamed namespace.
//
// 32 weights a block: an exponent of two and 4-bit floats, which ggml looks up as signed bytes (twice their
// value). It adds 8 integer lanes a block, even and odd blocks into float lanes of their own, and a last block
// without a partner by itself. Here 12 more make the looked up numbers unsigned, and what that adds too much
// is where the sums begin.

// Half of two to the power of e less 127.
inline float mxfp4_scale(std::uint32_t e) {
    const std::uint32_t bits = e < 2 ? 0x00200000U << e : (e - 1) << 23;
    float scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return scale;
}

inline __m256i numbers_of(const BlockMxfp4& x) {
    const __m256i unsigned_numbers =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0));
    const __m256i twice = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x.numbers)));
    const __m256i nibbles = _mm256_srlv_epi64(twice, _mm256_setr_epi64x(0, 0, 4, 4));
    return _mm256_shuffle_epi8(unsigned_numbers, _mm256_and_si256(nibbles, _mm256_set1_epi8(15)));
}

inline __m256 lanes_of(__m256i numbers, const PackedQ80& y) {
    return _mm256_cvtepi32_ps(GANNET_DPBUSD(load(y.less), numbers, load(y.quants)));
}

// One row times N vectors: its numbers are looked up once.
template <int N>
void dots_mxfp4(const BlockMxfp4* x, const std::byte* const* packed, std::int64_t blocks, float* const* out,
                std::int64_t row) {
    const PackedQ80* y[N];
    __m256 even[N];
    __m256 odd[N];
    for (int c = 0; c < N; c++) {
        y[c] = reinterpret_cast<const PackedQ80*>(packed[c]);
        even[c] = odd[c] = _mm256_setzero_ps();
    }
    std::int64_t i = 0;
    for (; i + 1 < blocks; i += 2) {
        const __m256i first = numbers_of(x[i]);
        const __m256i second = numbers_of(x[i + 1]);
        const float of_first = mxfp4_scale(x[i].exponent);
        const float of_second = mxfp4_scale(x[i + 1].exponent);
        for (int c = 0; c < N; c++) {
            even[c] = _mm256_fmadd_ps(_mm256_set1_ps(y[c][i].d * of_first), lanes_of(first, y[c][i]), even[c]);
            odd[c] = _mm256_fmadd_ps(_mm256_set1_ps(y[c][i + 1].d * of_second), lanes_of(second, y[c][i + 1]), odd[c]);
        }
    }
    for (int c = 0; c < N; c++) out[c][row] = sum8(_mm256_add_ps(even[c], odd[c]));
    if (i == blocks) return;
    const __m256i last = numbers_of(x[i]);
    const float scale = mxfp4_scale(x[i].exponent);
    for (int c = 0; c < N; c++) {
        // Whole numbers below 2^24: their sum is exact in any order.
        const float sum = sum8(lanes_of(last, y[c][i]));
        const __m128 total = _mm_fmadd_ss(_mm_set_ss(y[c][i].d * scale), _mm_set_ss(sum), _mm_set_ss(out[c][row]));
        out[c][row] = _mm_cvtss_f32(total);
    }
}

template <int N>
void multiply_n_mxfp4(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* const* packed,
                      float* const* out) {
    const auto row_bytes = static_cast<std::size_t>(rows.columns / 32) * sizeof(BlockMxfp4);
    begin_reading(rows.data + static_cast<std::size_t>(begin) * rows.stride);
    for (std::int64_t r = begin; r < end; r++) {
        const std::byte* row = rows.data + static_cast<std::size_t>(r) * rows.stride;
        read_ahead(row, row_bytes);
        dots_mxfp4<N>(reinterpret_cast<const BlockMxfp4*>(row), packed, rows.columns / 32, out, r);
    }
}

void multiply_mxfp4(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* packed, float* out) {
    multiply_n_mxfp4<1>(rows, begin, end, &packed, &out);
}

void multiply_many_mxfp4(const Rows& rows, std::int64_t begin, std::int64_t end, const std::byte* const* packed,
                         std::size_t n, float* const* out) {
    for (; n >= 4; n -= 4, packed += 4, out += 4) multiply_n_mxfp4<4>(rows, begin, end, packed, out);
    if (n == 3) multiply_n_mxfp4<3>(rows, begin, end, packed, out);
    if (n == 2) multiply_n_mxfp4<2>(rows, begin, end, packed, out);
    if (n == 1) multiply_n_mxfp4<1>(rows, begin, end, packed, out);
}
