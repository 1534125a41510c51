# frozen_string_literal: true

require_relative "../build"

module Bench
  module Deploys
    # The application of bench/deploy. rackup: the path of its file. env: variables that each server needs.
    Application = Struct.new(:rackup, :env) do
      # seconds: of processor time that it takes to load.
      def self.plain(seconds) = new(file("app.ru"), { "BENCH_BOOT" => seconds.to_s })

      # Installs Rails and the servers. seconds: the same, at least what Rails itself takes.
      def self.rails(seconds)
        gemfile = File.join(Build::ROOT, "bench/peers/rails/Gemfile")
        Build.bundle(gemfile)
        new(file("rails.ru"), { "BENCH_BOOT" => seconds.to_s, **Build.gems_of(gemfile) })
      end

      def self.file(name) = File.join(Build::ROOT, "bench/apps/deploy", name)
    end
  end
end
