// The only file that knows Python: the module engine.native._native.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <stdexcept>

#include "bind_simulation.h"
#include "ggml_build.h"
#include "stream_backend.h"
#include "streamed_model.h"

namespace nb = nanobind;
using namespace gannet;

namespace {

std::map<std::string, std::uint64_t> counters(StreamedModel& model) {
    std::map<std::string, std::uint64_t> out;
#define GANNET_READ(name) out[#name] = model.counters().name.load(std::memory_order_relaxed);
    GANNET_COUNTERS(GANNET_READ)
#undef GANNET_READ
    return out;
}

// By distance: the share of selected experts that had been predicted so far ahead; absent until judged.
std::map<std::uint32_t, double> recall(StreamedModel& model) {
    std::map<std::uint32_t, double> out;
    for (std::uint32_t d = 0; d < kMaxDistance; d++) {
        const auto selected = model.counters().selected[d].load(std::memory_order_relaxed);
        const auto recalled = model.counters().recalled[d].load(std::memory_order_relaxed);
        if (selected > 0) out[d + 1] = static_cast<double>(recalled) / static_cast<double>(selected);
    }
    return out;
}

nb::bytes as_bytes(const std::vector<std::uint8_t>& v) {
    return nb::bytes(v.data(), v.size());
}

std::uintptr_t address(ggml_backend_buffer_type_t type) {
    return reinterpret_cast<std::uintptr_t>(type);
}

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void correct(StreamedModel& model, std::uint32_t layer, std::uint32_t distance, const Matrix& up, const Matrix& down,
             const Vector& bias) {
    const auto floats = [](const auto& a) { return std::vector<float>(a.data(), a.data() + a.size()); };
    if (up.shape(1) != down.shape(0)) throw std::invalid_argument("a correction whose sizes do not fit each other");
    model.corrections().set(layer, distance, floats(up), floats(down), floats(bias), down.shape(1));
}

// A context manager that makes a scope object when entered and destroys it when left.
template <typename Scope>
class Held {
  public:
    explicit Held(std::function<std::unique_ptr<Scope>()> make) : make_(std::move(make)) {}
    void enter() { scope_ = make_(); }
    void leave() { scope_.reset(); }

  private:
    std::function<std::unique_ptr<Scope>()> make_;
    std::unique_ptr<Scope> scope_;
};

template <typename Scope>
nb::class_<Held<Scope>> bind_held(nb::module_& m, const char* name) {
    using H = Held<Scope>;
    return nb::class_<H>(m, name).def("__enter__", &H::enter).def("__exit__", [](H& self, nb::args) { self.leave(); });
}

void bind_settings(nb::module_& m) {
    nb::class_<ModelSettings>(m, "ModelSettings", "What a streamed model is made with; sizes in bytes.")
        .def(nb::init<>())
        .def_prop_rw(
            "cache_bytes", [](const ModelSettings& s) { return s.store.cache_bytes; },
            [](ModelSettings& s, std::uint64_t v) { s.store.cache_bytes = v; })
        .def_prop_rw(
            "io_threads", [](const ModelSettings& s) { return s.store.io_threads; },
            [](ModelSettings& s, std::uint32_t v) { s.store.io_threads = v; })
        .def_prop_rw(
            "direct", [](const ModelSettings& s) { return s.store.direct; },
            [](ModelSettings& s, bool v) { s.store.direct = v; })
        .def_prop_rw(
            "throttle_ns_per_mib", [](const ModelSettings& s) { return s.store.throttle_ns_per_mib; },
            [](ModelSettings& s, std::uint64_t v) { s.store.throttle_ns_per_mib = v; })
        .def_rw("prefetch_bar", &ModelSettings::prefetch_bar)
        .def_rw("lookahead", &ModelSettings::lookahead)
        .def_rw("width", &ModelSettings::width)
        .def_prop_rw(
            "prefetch_depth", [](const ModelSettings& s) { return s.store.limits.prefetch_depth; },
            [](ModelSettings& s, std::uint32_t v) { s.store.limits.prefetch_depth = v; });
}

void bind_tables(nb::module_& m) {
    nb::class_<PartSpec>(m, "PartSpec")
        .def("__init__", [](PartSpec* p, std::string tensor, std::uint32_t file, std::uint64_t offset,
                            std::uint64_t bytes) { new (p) PartSpec{std::move(tensor), file, offset, bytes}; });
    nb::class_<LayerSpec>(m, "LayerSpec")
        .def("__init__", [](LayerSpec* l, std::uint32_t block, std::uint32_t n_experts, std::vector<PartSpec> parts) {
            new (l) LayerSpec{block, n_experts, std::move(parts)};
        });
    nb::class_<TensorPlace>(m, "TensorPlace")
        .def("__init__", [](TensorPlace* t, std::string name, std::uint32_t file, std::uint64_t offset,
                            std::uint64_t bytes) { new (t) TensorPlace{std::move(name), file, offset, bytes}; });
}

void bind_model(nb::module_& m) {
    bind_held<Setup>(m, "Setup")
        .def(
            "__init__",
            [](Held<Setup>* self, StreamedModel& model) {
                new (self) Held<Setup>([&model] { return std::make_unique<Setup>(model); });
            },
            nb::keep_alive<1, 2>());
    bind_held<NoMapReadAhead>(m, "NoMapReadAhead").def("__init__", [](Held<NoMapReadAhead>* self) {
        new (self) Held<NoMapReadAhead>([] { return std::make_unique<NoMapReadAhead>(); });
    });
    using Model = StreamedModel;
    const auto unlocked = nb::call_guard<nb::gil_scoped_release>();
    nb::class_<Model>(m, "StreamedModel",
                      "A model whose experts stream. Must outlive llama.cpp's objects made with it.")
        .def(nb::init<std::vector<std::string>, std::vector<LayerSpec>, std::vector<TensorPlace>, ModelSettings>())
        .def_prop_ro("expert_type", [](Model& self) { return address(self.expert_type()); })
        .def_prop_ro("resident_type", [](Model& self) { return address(self.resident_type()); })
        .def_prop_ro("direct", [](Model& self) { return self.store().direct(); })
        .def(
            "finish_resident", [](Model& self) { return self.resident().finish(); }, unlocked)
        .def("cancel_resident", [](Model& self) { self.resident().cancel(); })
        .def("resident_progress",
             [](Model& self) { return std::pair(self.resident().bytes_done(), self.resident().bytes_queued()); })
        .def("counters", &counters)
        .def("recall", &recall, "Share of selected experts that had been predicted, by distance.")
        .def("trust", [](Model& self, const std::vector<std::uint64_t>& uses,
                         std::uint32_t n_used) { self.store().recall(uses, n_used); })
        .def("warm", [](Model& self, std::vector<Key> keys) { self.store().warm(std::move(keys)); })
        .def(
            "resize", [](Model& self, std::uint64_t bytes) { return self.store().resize(bytes); }, unlocked)
        .def(
            "set_io_threads", [](Model& self, std::uint32_t n) { self.store().set_io_threads(n); }, unlocked)
        .def("set_lookahead", &Model::set_lookahead)
        .def("set_width", &Model::set_width)
        .def(
            "set_prefetch_depth", [](Model& self, std::uint32_t n) { self.store().set_prefetch_depth(n); }, unlocked)
        .def("set_prefetch_bar", &Model::set_prefetch_bar)
        .def_prop_ro("cache_bytes", [](Model& self) { return self.store().cache_bytes(); })
        .def_prop_ro("used_bytes", [](Model& self) { return self.store().used_bytes(); })
        .def_prop_ro("held_bytes", [](Model& self) { return self.store().held_bytes(); })
        .def_prop_ro("queued_demand", [](Model& self) { return self.store().queued_demand(); })
        .def_prop_ro("queued_prefetch", [](Model& self) { return self.store().queued_prefetch(); })
        .def("take_error", [](Model& self) { return self.store().take_error(); })
        .def("resident_experts", [](Model& self) { return as_bytes(self.store().resident()); })
        .def("uses", [](Model& self) { return self.store().uses(); })
        .def("last_uses", [](Model& self) { return self.store().last_uses(); })
        .def("correct", &correct,
             "Adds up [N, r] times down [r, E] and bias [N] to a layer's router where it is applied early.")
        .def("enable_corrections", [](Model& self, bool on) { self.corrections().enable(on); })
        .def("start_tap", [](Model& self, std::uint32_t n_used, std::uint32_t distances,
                             std::uint64_t pending) { self.tap().start(n_used, distances, pending); })
        .def("stop_tap", [](Model& self) { self.tap().stop(); })
        .def("take_tap", [](Model& self) { return as_bytes(self.tap().take()); })
        .def_prop_ro("tap_dropped", [](Model& self) { return self.tap().dropped(); })
        .def_prop_ro("tap_record_bytes", [](Model& self) { return self.tap().record_bytes(); });
}

}  // namespace

NB_MODULE(_native, module) {
    module.doc() = "Gannet's native core.";
    module.def("ggml_version", &ggml_version_string, "Version of the libggml this process has loaded.");
    module.def("register_backend", &register_backend,
               "Makes the streaming backend known to ggml; once a process is enough.");
    bind_settings(module);
    bind_tables(module);
    bind_model(module);
    bind_simulation(module);
}
