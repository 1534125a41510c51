# frozen_string_literal: true

require_relative "../build"

module Bench
  module Deploys
    # The application of bench/deploy. rackup: the path of its file. env: variables that each server needs. options: of
    # Bontebok.
    Application = Struct.new(:rackup, :env, :options) do
      # seconds: of processor time that it takes to load.
      def self.plain(seconds) = new(file("app.ru"), { "BENCH_BOOT" => seconds.to_s }, [])

      # Installs Rails and the servers. seconds: the same, at least what Rails itself takes. The first request of a
      # process takes Rails 200 ms, so a new worker makes it itself before it serves.
      def self.rails(seconds)
        gemfile = File.join(Build::ROOT, "bench/peers/rails/Gemfile")
        Build.bundle(gemfile)
        new(file("rails.ru"), { "BENCH_BOOT" => seconds.to_s, **Build.gems_of(gemfile) }, ["--warm-up", "/"])
      end

      def self.file(name) = File.join(Build::ROOT, "bench/apps/deploy", name)
    end
  end
end
