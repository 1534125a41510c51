# frozen_string_literal: true

require_relative "config_file"
require_relative "option"
require_relative "option_values"

module Bontebok
  # The options of Rhebok (another Rack server) that OptionTable does not have. Used for configuration files and for -O
  # of rackup.
  module RhebokOptions
    # Options without an effect: { name in a file => [name for -O, what the server does instead, for the log] }.
    ADVICE = {
      min_request_per_child: ["MinRequestPerChild",
                              "the limit of each worker is random, at least three quarters of max_request_per_child"],
      min_gc_per_request: ["MinGCPerRequest",
                           "the number of requests is random, at least three quarters of max_gc_per_request"],
      spawn_interval: ["SpawnInterval", "workers are replaced one after the other, when the replacement is ready"]
    }.freeze

    # The value of those of the options TIMEOUTS that are not set themselves.
    TIMEOUT = Option.new("timeout", OptionValues::DURATION, 300_000,
                         "Value of header_timeout, body_timeout and write_timeout.", section: "Rhebok")
    TIMEOUTS = %i[header_timeout body_timeout write_timeout].freeze

    # The address in a configuration file: host and port, or the path of a unix socket. Returns the entry for `listen`,
    # or nil if the file sets none of these.
    def self.address(entries)
      parts = entries.slice(:host, :port, :path)
      return if parts.empty?

      written = parts.transform_values { |part| OptionTable[:listen].plain(part.value, part.place) }
      values = { host: "0.0.0.0", port: 9292, **written }
      text = values[:path] ? Address::Path.new(values[:path].to_s) : Address.text(values[:host], values[:port])
      ConfigFile::Entry.new(text, parts.values.first.place)
    end
  end
end
