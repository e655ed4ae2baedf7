// Which experts the next layers of a prompt will use: what the drive reads while this one is computed.
//
// As Lookahead for one token, for many: the routers of the layers ahead, applied to this layer's router
// input. An expert is wanted by a prompt when any of its tokens selects it, so it is the more certain
// the more tokens choose it early, and the better: of rows with chances p its chance is 1 - prod(1 - p).
// Of a long prompt a sample of rows says enough: its experts are nearly all used.
//
// A guess chooses what is read early and never what is computed.
#pragma once

#include <cstdint>
#include <vector>

#include "ggml-backend.h"
#include "likelihood.h"
#include "router_graph.h"
#include "streamed_model.h"

namespace gannet {

class PromptForecast {
  public:
    PromptForecast(StreamedModel& model, ggml_backend_t cpu);

    // Notes the routers and numbers of rows of a graph's layers. Before its nodes are run.
    void begin(const ggml_cgraph* graph);
    // The router of `layer` has run, its experts are chosen: asks the store for what the next layers need
    // almost surely, at most `room` experts of each. `input`: of the experts' products, [width, 1, rows].
    void publish(std::uint32_t layer, const ggml_tensor* input, std::size_t room);

  private:
    struct Layer {
        bool known = false;
        RouterSpec router;
        std::int64_t rows = 0;
        std::uint32_t n_used = 0;
    };
    bool sample(const Layer& here, const Layer& ahead);
    bool score(const Layer& ahead);
    void chances(const Layer& ahead, std::uint32_t distance);
    void ask(std::uint32_t layer, std::uint32_t distance, std::size_t room);

    StreamedModel& model_;
    ggml_backend_t cpu_;
    std::vector<Layer> layers_;
    std::vector<float> rows_;     // [sampled rows][width], as the router ahead would see them
    std::vector<float> scores_;   // [sampled rows][n_experts]
    std::vector<double> chance_;  // by expert
    std::vector<std::uint32_t> order_;
    std::vector<Predicted> wanted_;
    std::vector<std::byte> context_;
};

}  // namespace gannet
