# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require_relative "build"

module Bench
  # A copy of the gem whose core and binding are built with ASan and UBSan, for a Ruby without them: the sanitizers are
  # preloaded. They write their reports into files in a directory.
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
      sources = Dir.glob(["core/src/*/*.c", "ext/bontebok/*.c"], base: Build::ROOT)
      Dir.chdir(Build::ROOT) do
        Build.run!("cc", *FLAGS, *headers, "-Icore/include", "-Icore/src", "-Iext/bontebok", *sources, "-o", library)
      end
      self
    end

    def executable = File.join(ROOT, "exe/bontebok")
    def library = File.join(ROOT, "lib/bontebok/bontebok.so")

    # Leaks are not reported, because Ruby frees little at its end. ASan's signal stacks are off, because Ruby has its
    # own.
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
