// Runs a graph of several tokens, or one whose experts do not all fit: experts come in waves.
//
// Everything but the products with routed experts goes to ggml's CPU backend as it is. Each of those
// products runs over its distinct experts in waves: as many as have slots are asked for at once, those
// whose weights have arrived are computed (by ggml's own MUL_MAT_ID, one node an expert over the rows
// that chose it, so results are stock's bit for bit), their slots are let go, and more are asked for.
// Each expert's bytes are read once per graph, however few slots there are. While a layer is computed, what the next
// ones need almost surely is read (PromptForecast).
#pragma once

#include <cstdint>
#include <vector>

#include "expert_batch.h"
#include "prompt_forecast.h"
#include "streamed_model.h"

namespace gannet {

class WavePlan {
  public:
    WavePlan(StreamedModel& model, ggml_backend_t cpu);
    ~WavePlan();
    WavePlan(const WavePlan&) = delete;
    WavePlan& operator=(const WavePlan&) = delete;

    ggml_status run(ggml_cgraph* graph);

  private:
    struct Bound {
        std::uint32_t expert;
        std::int32_t slot;
    };
    ggml_status flush();
    ggml_status experts(ggml_tensor* node);
    void enter_layer(std::uint32_t layer, const ggml_tensor* product);
    void leave_layer();
    void reset();
    ggml_status wave(std::uint32_t part);
    void bind(std::vector<std::uint32_t>& unbound, std::uint32_t part);
    ggml_status compute_arrived(std::vector<Bound>& bound, std::uint32_t part);

    StreamedModel& model_;
    ggml_backend_t cpu_;
    ExpertBatch batch_;
    PromptForecast forecast_;
    std::vector<Bound> bound_;           // pinned for this wave alone
    std::vector<ggml_tensor*> segment_;  // nodes for ggml, not run yet

    // The layer being run: its distinct experts, and their slots where all of them are pinned throughout.
    bool in_layer_ = false;
    std::uint32_t layer_ = 0;
    bool pinned_ = false;
    std::vector<std::uint32_t> experts_;
    std::vector<std::uint32_t> rows_;
    std::vector<double> weights_;  // rows, the later ones counting more
    std::vector<std::int32_t> slots_;
};

}  // namespace gannet
