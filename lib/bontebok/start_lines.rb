# frozen_string_literal: true

require_relative "version"

module Bontebok
  # The first lines of the log. They are written when all is found good: a start that fails says why, and nothing else.
  module StartLines
    class << self
      def write(log, config, listeners)
        log.info("bontebok #{VERSION}, ruby #{RUBY_VERSION}, #{config[:environment]}: #{size(config)}")
        config.warnings.each { |warning| log.warn(warning) }
        listeners.each { |listener| log.info("listening on #{listener}") }
      end

      private

      def size(config)
        threads = count(config[:threads], "thread")
        config.workers.zero? ? "one process, #{threads}" : "#{count(config.workers, 'worker')} of #{threads}"
      end

      def count(number, noun)
        "#{number} #{noun}#{'s' unless number == 1}"
      end
    end
  end
end
