# frozen_string_literal: true

require "fileutils"

module Bench
  # Builds and installs what a comparison needs: the floor, the load tool, the peers' gems.
  module Build
    ROOT = File.expand_path("../..", __dir__)
    GEMFILES = ["bench/peers/Gemfile", "bench/peers/rhebok/Gemfile"].freeze

    module_function

    def floor = File.join(ROOT, "tmp/bench/floor")
    def load_tool = File.join(ROOT, "lib/bontebok/bontebok-bench")

    def all
      run!(File.join(ROOT, "bin/setup"), "--run")
      FileUtils.mkdir_p(File.dirname(floor))
      source = File.join(ROOT, "bench/floor/floor.c")
      run!("cc", "-std=c11", "-D_GNU_SOURCE", "-O2", source, "-o", floor) unless FileUtils.uptodate?(floor, [source])
      GEMFILES.each { |gemfile| bundle(File.join(ROOT, gemfile)) }
    end

    def bundle(gemfile)
      env = { "BUNDLE_GEMFILE" => gemfile }
      return if system(env, "bundle", "check", out: File::NULL, err: File::NULL)

      system(env, "bundle", "install", "--quiet") || warn("left out: the gems of #{gemfile} do not install here")
    end

    def run!(*command)
      system(*command, out: File::NULL) || abort("failed: #{command.join(' ')}")
    end
  end
end
