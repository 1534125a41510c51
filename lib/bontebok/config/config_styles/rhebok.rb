# frozen_string_literal: true

require_relative "native"

module Bontebok
  module ConfigStyles
    # A configuration file for Rhebok. Rhebok's options have the names of Bontebok's options, except host, port and
    # path, which set Listen. A worker has one thread, because Rhebok's applications need not be thread-safe.
    class Rhebok < Native
      FIXED = { threads: 1 }.freeze
    end
  end
end
