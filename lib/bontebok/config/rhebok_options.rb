# frozen_string_literal: true

module Bontebok
  # Options of Rhebok (another Rack server) that have no effect here. Used by the styles of configuration files, and for
  # -O of rackup.
  module RhebokOptions
    # { name in a file => [name for -O, what the server does instead, for the log] }
    ADVICE = {
      min_request_per_child: ["MinRequestPerChild",
                              "the limit of each worker is random, at least three quarters of MaxRequestPerChild"],
      min_gc_per_request: ["MinGCPerRequest",
                           "the number of requests is random, at least three quarters of MaxGCPerRequest"],
      spawn_interval: ["SpawnInterval", "workers are replaced one after the other, when the replacement is ready"]
    }.freeze
  end
end
