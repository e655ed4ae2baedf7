// Products of several experts with the rows that chose them, on the threads of ggml's CPU backend.
//
// Two ways, the same bits. Experts with few rows: ggml multiplies their rows one by one, and where a kernel of
// ours has the weights' type, each weight row is unpacked once for several of them, and results go straight to
// where the graph wants them. The others: gather the expert's rows of the input, multiply (MUL_MAT_ID over one
// expert), scatter the results. ggml chooses its kernel by the number of rows of an expert, which is the same
// here and in the whole node. How many are few is found by trial (rows_multiplied_singly).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ggml-backend.h"
#include "ggml.h"
#include "row_kernel.h"
#include "singly.h"

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
        std::uint32_t first_chunk;  // of the queue that the threads take chunks from
        std::int64_t chunk_rows;    // rows of weights a chunk
    };
    static void pack_inputs(ggml_tensor* unused, int ith, int nth, void* self);
    static void multiply(ggml_tensor* unused, int ith, int nth, void* self);
    void multiply_chunk(const Entry& entry, std::uint32_t chunk) const;
    std::int64_t input_rows() const { return node_->src[1]->ne[1] * node_->src[1]->ne[2]; }
    const std::byte* packed(std::int64_t row) const;
    bool is_ours(const Entry& entry) const { return rows_of(entry.expert) <= ours_most_; }
    void queue_ours();
    void append_ours(ggml_context* context, ggml_cgraph* graph);
    std::byte* take(std::size_t bytes);
    void append(ggml_context* context, ggml_cgraph* graph, const Entry& entry);
    std::size_t scratch_bytes() const;

    ggml_backend_t cpu_;
    ggml_tensor* node_ = nullptr;
    std::vector<std::uint32_t> first_;  // by expert: its first entry in source_ and target_
    std::vector<std::int32_t> source_;  // rows of the input, by expert
    std::vector<std::int64_t> target_;  // rows of the result, by expert
    std::vector<Entry> entries_;
    std::size_t rows_ = 0;
    std::vector<std::byte> scratch_;
    std::size_t used_ = 0;
    std::vector<std::byte> context_;

    // Our way: the node's input rows as the kernel takes them, made when the first batch runs.
    RowKernel kernel_;
    std::size_t ours_ = 0;       // the first of entries_ are computed our way in this batch
    std::size_t ours_most_ = 0;  // rows of an expert that is computed our way
    bool inputs_packed_ = false;
    std::size_t packed_stride_ = 0;
    std::vector<std::byte> packed_;
    std::uint32_t chunks_ = 0;
    std::atomic<std::uint32_t> next_{0};
};

}  // namespace gannet
