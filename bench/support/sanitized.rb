# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require_relative "build"

module Bench
  # A copy of the gem with ASan and UBSan in the core and in the binding. Ruby is built without sanitizers, so their
  # library is preloaded. The sanitizers write reports into files in a directory.
  class Sanitized
    ROOT = File.join(Build::ROOT, "tmp/sanitized")
    FLAGS = %w[-std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -fPIC -shared -fvisibility=hidden
               -fsanitize=address,undefined -fno-sanitize-recover=undefined].freeze

    def initialize(reports)
      @reports = reports
    end

    def build
      %w[exe lib].each { |directory| FileUtils.cp_r(File.join(Build::ROOT, directory), FileUtils.mkdir_p(ROOT).first) }
      headers = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").map { |directory| "-I#{directory}" }
      sources = Dir.glob(["core/src/*/*.c", "ext/bontebok/**/*.c"], base: Build::ROOT)
      Dir.chdir(Build::ROOT) do
        Build.run!("cc", *FLAGS, *headers, "-Icore/include", "-Icore/src", "-Iext/bontebok", *sources, "-o", library)
      end
      self
    end

    def executable = File.join(ROOT, "exe/bontebok")
    def library = File.join(ROOT, "lib/bontebok/bontebok.so")

    # Leaks are not reported, because Ruby frees little memory when it exits. ASan's signal stacks are off, because Ruby
    # has its own signal stacks.
    def env
      options = "log_path=#{@reports}/report:print_stacktrace=1:detect_leaks=0:use_sigaltstack=0"
      { "LD_PRELOAD" => runtime, "ASAN_OPTIONS" => options, "UBSAN_OPTIONS" => options }
    end

    # The texts of the reports.
    def reports = Dir[File.join(@reports, "report*")].map { |file| File.read(file) }

    private

    def runtime = IO.popen(%w[cc -print-file-name=libasan.so], &:read).chomp
  end
end
