# frozen_string_literal: true

require "rbconfig"

module Interop
  # Runs puma, for a comparison: an application must behave the same on puma and on Bontebok.
  class Puma < Support::ServerProcess
    LISTENING = %r{Listening on (?:http://|(?=unix:))(\S+)}

    # env: names the Gemfile with puma, and loads bundler/setup.
    def initialize(directory, args: [], env: {}, **options)
      super(RbConfig.ruby, "-e", 'load Gem.bin_path("puma", "puma")', "--", "-b", "tcp://127.0.0.1:0",
            *args.map(&:to_s), env: env, chdir: directory, **options)
    end

    def wait_until_ready(limit = Support::Deadline::DEFAULT_SECONDS)
      wait_for_output(LISTENING, limit)
      self
    end

    def addresses
      output.text.scan(LISTENING).map { |(text)| Support::Address.new(text) }
    end
  end
end
