#include "bind_simulation.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "simulation.h"

namespace nb = nanobind;

namespace gannet {

namespace {

using Selected = nb::ndarray<const std::uint16_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Predicted = nb::ndarray<const std::uint16_t, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

RoutingLog make_log(const Selected& selected, const Predicted& predicted, std::uint32_t n_experts,
                    std::vector<std::uint32_t> passes) {
    RoutingLog log;
    log.n_layers = static_cast<std::uint32_t>(selected.shape(1));
    log.n_experts = n_experts;
    log.n_used = static_cast<std::uint32_t>(selected.shape(2));
    log.n_distances = static_cast<std::uint32_t>(predicted.shape(2));
    log.n_ranks = static_cast<std::uint32_t>(predicted.shape(3));
    log.selected.assign(selected.data(), selected.data() + selected.size());
    log.predicted.assign(predicted.data(), predicted.data() + predicted.size());
    log.passes = std::move(passes);
    log.check();
    return log;
}

SimulationSettings settings_of(std::uint32_t slots, bool per_layer, std::uint32_t warm_tokens) {
    SimulationSettings settings;
    settings.slots = slots;
    settings.per_layer = per_layer;
    settings.warm_tokens = warm_tokens;
    return settings;
}

}  // namespace

void bind_simulation(nb::module_& m) {
    nb::class_<RoutingLog>(
        m, "RoutingLog",
        "Routing: selected [T, L, K], predicted [T, L, D, W], tokens of each pass [P]; none: one each.")
        .def(
            "__init__",
            [](RoutingLog* self, const Selected& selected, const Predicted& predicted, std::uint32_t n_experts,
               std::vector<std::uint32_t> passes) {
                new (self) RoutingLog(make_log(selected, predicted, n_experts, std::move(passes)));
            },
            nb::arg("selected"), nb::arg("predicted"), nb::arg("n_experts"),
            nb::arg("passes") = std::vector<std::uint32_t>());
    nb::class_<SimulationResult>(m, "SimulationResult", "Counts, in experts, after the warm-up.")
        .def_ro("lookups", &SimulationResult::lookups)
        .def_ro("misses", &SimulationResult::misses)
        .def_ro("prefetched", &SimulationResult::prefetched)
        .def_ro("useful", &SimulationResult::useful)
        .def_ro("prompt_lookups", &SimulationResult::prompt_lookups)
        .def_ro("prompt_misses", &SimulationResult::prompt_misses)
        .def_prop_ro("reads", &SimulationResult::reads);
    m.def(
        "simulate",
        [](const RoutingLog& log, const std::string& policy, std::uint32_t slots, bool per_layer,
           std::uint32_t lookahead, double bar, bool shield, std::uint32_t warm_tokens) {
            SimulationSettings settings = settings_of(slots, per_layer, warm_tokens);
            settings.policy = policy;
            settings.lookahead = lookahead;
            settings.bar = bar;
            settings.shield = shield;
            return simulate(log, settings);
        },
        nb::arg("log"), nb::arg("policy"), nb::arg("slots"), nb::arg("per_layer") = false, nb::arg("lookahead") = 0,
        nb::arg("bar") = 0.5, nb::arg("shield") = true, nb::arg("warm_tokens") = 20,
        nb::call_guard<nb::gil_scoped_release>(),
        "Replay the log over a cache of `slots` experts. ValueError: see simulation.h.");
    m.def(
        "belady",
        [](const RoutingLog& log, std::uint32_t slots, bool per_layer, std::uint32_t warm_tokens) {
            return belady(log, settings_of(slots, per_layer, warm_tokens));
        },
        nb::arg("log"), nb::arg("slots"), nb::arg("per_layer") = false, nb::arg("warm_tokens") = 20,
        nb::call_guard<nb::gil_scoped_release>(), "The least misses any policy could have.");
}

}  // namespace gannet
