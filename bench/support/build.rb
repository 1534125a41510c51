# frozen_string_literal: true

require "fileutils"

module Bench
  # Builds and installs the programs of a comparison: the floor (a minimal C server), the load tool, the peers' gems.
  module Build
    ROOT = File.expand_path("../..", __dir__)
    GEMFILES = ["bench/peers/Gemfile", "bench/peers/rhebok/Gemfile", "bench/peers/itsi/Gemfile"].freeze

    module_function

    def floor = File.join(ROOT, "tmp/bench/floor")
    def core_host = File.join(ROOT, "tmp/bench/core_host")
    def stream_client = File.join(ROOT, "tmp/bench/stream_client")
    def load_tool = File.join(ROOT, "lib/bontebok/bontebok-bench")

    # The floor, puma and unicorn.
    def few
      prepare_floor
      bundle(File.join(ROOT, GEMFILES.first))
    end

    def all
      few
      compile_core_host
      GEMFILES.drop(1).each { |gemfile| bundle(File.join(ROOT, gemfile)) }
    end

    # The floor and core_host, for bench/psgi.
    def psgi
      prepare_floor
      compile_core_host
    end

    # What bench/stream needs.
    def streaming
      run!(File.join(ROOT, "bin/setup"), "--run")
      compile_stream_client
      bundle(File.join(ROOT, "bench/peers/stream/Gemfile"))
    end

    def prepare_floor
      run!(File.join(ROOT, "bin/setup"), "--run")
      FileUtils.mkdir_p(File.dirname(floor))
      compile(floor, ["bench/floor/floor.c"])
    end

    def compile_core_host
      compile(core_host, ["bench/floor/core_host.c", *Dir.glob("core/src/*/*.c", base: ROOT)])
    end

    def compile_stream_client
      FileUtils.mkdir_p(File.dirname(stream_client))
      sources = ["load/src/report/histogram.c", *Dir.glob("bench/stream_client/*.c", base: ROOT)]
      compile(stream_client, sources, "-I#{ROOT}/load/src", "-lm")
    end

    def compile(program, sources, *options)
      sources = sources.map { |source| File.join(ROOT, source) }
      link(program, sources, ROOT, *options) unless FileUtils.uptodate?(program, sources)
    end

    # root: the checkout with the core's headers. options: of the compiler.
    def link(program, sources, root = ROOT, *options)
      run!("cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-fvisibility=hidden", "-fstack-protector-strong",
           "-I#{root}/core/include", "-I#{root}/core/src", *sources, *options, "-lpthread", "-o", program)
    end

    # All Gemfiles of the checkout use the directory in which bin/setup keeps the gems.
    def gems_of(gemfile) = { "BUNDLE_GEMFILE" => gemfile, "BUNDLE_APP_CONFIG" => File.join(ROOT, ".bundle") }

    def bundle(gemfile)
      env = gems_of(gemfile)
      return if system(env, "bundle", "check", out: File::NULL, err: File::NULL)

      system(env, "bundle", "install", "--quiet") || warn("left out: the gems of #{gemfile} do not install here")
    end

    def run!(*command, **options)
      system(*command, out: File::NULL, **options) || abort("failed: #{command.join(' ')}")
    end
  end
end
