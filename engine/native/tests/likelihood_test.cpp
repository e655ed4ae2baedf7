#include "likelihood.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

using gannet::DriveIdle;
using gannet::Likelihood;

TEST_CASE("before anything is measured, near and well ranked guesses are the likelier ones") {
    const Likelihood likelihood(8);
    for (std::uint32_t distance = 1; distance <= 3; ++distance) {
        for (std::uint32_t rank = 0; rank < 15; ++rank) {
            const double p = likelihood.probability(distance, rank);
            CHECK(p > 0.0);
            CHECK(p < 1.0);
            CHECK(likelihood.probability(distance, rank + 1) < p);
            CHECK(likelihood.probability(distance + 1, rank) < p);
        }
    }
    CHECK(likelihood.probability(1, 0) > 0.9);
    CHECK(likelihood.probability(1, 15) < 0.1);
}

TEST_CASE("the measured precision replaces the prior, so a model that predicts badly is not trusted") {
    Likelihood likelihood(8);
    for (int i = 0; i < 2000; ++i) {
        likelihood.resolved(1, 0, i % 4 == 0);
    }
    CHECK(likelihood.probability(1, 0) == doctest::Approx(0.25).epsilon(0.15));
    CHECK(likelihood.probability(2, 0) > 0.9);
    CHECK(likelihood.probability(1, 1) > 0.8);
}

TEST_CASE("precision follows a change of topic within a few hundred guesses") {
    Likelihood likelihood(8);
    for (int i = 0; i < 5000; ++i) {
        likelihood.resolved(2, 3, true);
    }
    for (int i = 0; i < 1500; ++i) {
        likelihood.resolved(2, 3, false);
    }
    CHECK(likelihood.probability(2, 3) < 0.2);
}

TEST_CASE("distances and ranks beyond the counters use the last one instead of foreign memory") {
    Likelihood likelihood(8);
    for (int i = 0; i < 2000; ++i) {
        likelihood.resolved(9, 500, true);
    }
    CHECK(likelihood.probability(4, 31) > 0.9);
    CHECK(likelihood.probability(9, 500) == likelihood.probability(4, 500));
}

TEST_CASE("the first choices two layers ahead go before the last choices of the next layer") {
    const Likelihood likelihood(8);
    CHECK(likelihood.priority(2, 0, 1) > likelihood.priority(1, 7, 0));
    CHECK(likelihood.priority(1, 0, 0) > likelihood.priority(2, 0, 1));
}

TEST_CASE("a saturated drive reads only what is likely, an idle one takes chances") {
    const Likelihood likelihood(8);
    CHECK(likelihood.bar(0.0) == doctest::Approx(0.8));
    CHECK(likelihood.bar(1.0) == doctest::Approx(0.5));
    CHECK(likelihood.bar(0.25) < likelihood.bar(0.1));
    CHECK(likelihood.bar(-1.0) == likelihood.bar(0.0));
    CHECK(likelihood.bar(7.0) == likelihood.bar(1.0));
}

TEST_CASE("the idle share follows the drive within a few seconds and survives odd clocks") {
    DriveIdle idle;
    for (int i = 0; i < 50; ++i) {
        idle.observe(0.1, 0.1);
    }
    CHECK(idle.share() < 0.05);
    for (int i = 0; i < 50; ++i) {
        idle.observe(0.0, 0.1);
    }
    CHECK(idle.share() > 0.95);
    const double before = idle.share();
    idle.observe(1.0, 0.0);
    CHECK(idle.share() == before);
    idle.observe(9.0, 0.1);
    CHECK(idle.share() >= 0.0);
}

TEST_CASE("impossible settings are refused") {
    CHECK_THROWS_AS(Likelihood(0), std::invalid_argument);
    gannet::LikelihoodSettings settings;
    settings.n_ranks = 0;
    CHECK_THROWS_AS(Likelihood(8, settings), std::invalid_argument);
    CHECK_THROWS_AS(DriveIdle(0.0), std::invalid_argument);
}
