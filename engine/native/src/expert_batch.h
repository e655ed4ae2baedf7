// Products of several experts with the rows that chose them, as one graph for ggml's CPU backend.
//
// Per expert: gather its rows of the input, multiply (MUL_MAT_ID over one expert), scatter the results to
// where the graph wants them. ggml chooses its kernel by the number of rows of an expert, which is the
// same here and in the whole node, so results are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ggml-backend.h"
#include "ggml.h"

namespace gannet {

// The expert at rank k of a token's choice: an element of a MUL_MAT_ID's ids.
std::uint32_t selected_expert(const ggml_tensor* ids, std::int64_t k, std::int64_t token);

class ExpertBatch {
  public:
    explicit ExpertBatch(ggml_backend_t cpu) : cpu_(cpu) {}

    // Starts a batch of products of `node`, a MUL_MAT_ID: its ids say which expert takes which rows.
    void begin(ggml_tensor* node);
    std::uint32_t rows_of(std::uint32_t expert) const;
    // Adds one expert whose weights lie at `weights`.
    void add(std::uint32_t expert, const std::byte* weights);
    std::size_t rows() const { return rows_; }
    // Computes what was added.
    ggml_status run();

  private:
    struct Entry {
        std::uint32_t expert;
        const std::byte* weights;
    };
    std::byte* take(std::size_t bytes);
    void append(ggml_context* context, ggml_cgraph* graph, const Entry& entry);
    std::size_t scratch_bytes() const;

    ggml_backend_t cpu_;
    ggml_tensor* node_ = nullptr;
    std::vector<std::uint32_t> first_;  // by expert: its first entry in order_
    std::vector<std::int32_t> source_;  // rows of the input, by expert
    std::vector<std::int64_t> target_;  // rows of the result, by expert
    std::vector<Entry> entries_;
    std::size_t rows_ = 0;
    std::vector<std::byte> scratch_;
    std::size_t used_ = 0;
    std::vector<std::byte> context_;
};

}  // namespace gannet
