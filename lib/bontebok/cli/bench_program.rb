# frozen_string_literal: true

require "digest"
require "fileutils"
require "rbconfig"

require_relative "../system/encodings/output"

module Bontebok
  # The program behind `bontebok bench`: a load tool in C. No server needs it, so it is compiled at its first use. It
  # lies beside the gem's Ruby files, or, if this user may not write there, in the user's cache directory.
  class BenchProgram
    # Raised if the program cannot be built. The message is for the user.
    class NotBuilt < StandardError; end

    NAME = "bontebok-bench"
    SOURCES = File.expand_path("../../../load/src", __dir__)
    OWN_DIRECTORY = File.expand_path("..", __dir__)
    FLAGS = %w[-std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -fstack-protector-strong].freeze
    LIBRARIES = %w[-pthread -lm].freeze

    def initialize(sources: SOURCES, own_directory: OWN_DIRECTORY, env: ENV)
      @sources = sources
      @own_directory = own_directory
      @env = env
    end

    # Executes the program with these arguments and does not return. If there is no program, or if exec fails, returns
    # the exit status 1. For --help, nothing is built.
    def run(argv)
      return Output.show(usage) if argv.intersect?(%w[-h --help])

      program = path { Output.write($stderr, "bontebok bench: building the load tool\n") }
      exec([program, NAME], *argv)
    rescue NotBuilt, SystemCallError => e
      Output.write($stderr, "bontebok bench: #{e.message}\n")
      1
    end

    # The path of the program, which is built if it is missing. The block is called before the build. Raises NotBuilt.
    def path
      own = File.join(@own_directory, NAME)
      return own if File.executable?(own)

      target = File.join(directory, NAME)
      return target if File.executable?(target)

      yield
      build
    end

    # The output of --help, without the program: the strings of its C source.
    def usage
      source = File.read(File.join(@sources, "options.c"), encoding: "UTF-8")
      source[/^const char options_usage\[\] =\n(.*?;)$/m, 1].scan(/"(?:[^"\\]|\\.)*"/).map(&:undump).join
    end

    # Builds the program. Returns its path. Raises NotBuilt.
    def build
      raise NotBuilt, "the load tool needs Linux, because it uses epoll" unless RUBY_PLATFORM.include?("linux")

      target = File.join(directory, NAME)
      temporary = "#{target}.#{Process.pid}"
      compile(temporary)
      File.rename(temporary, target)
      target
    rescue SystemCallError => e
      raise NotBuilt, "cannot build the load tool: #{e.message}"
    end

    private

    # Several processes may build at the same time, so each one writes a file of its own.
    def compile(output)
      compiler = (@env["CC"] || RbConfig::CONFIG["CC"]).split
      files = Dir[File.join(@sources, "**/*.c")]
      built = system(*compiler, *FLAGS, "-I#{@sources}", *files, *LIBRARIES, "-o", output)
      return if built

      FileUtils.rm_f(output)
      reason = built.nil? ? "#{compiler.first} is missing (Debian: build-essential)" : "the compiler has failed"
      raise NotBuilt, "cannot build the load tool: #{reason}"
    end

    def directory
      File.writable?(@own_directory) ? @own_directory : make_cache
    end

    # ArgumentError: there is no home directory.
    def make_cache
      cache = cache_directory
      FileUtils.mkdir_p(cache, mode: 0o700)
      unsafe = [File.dirname(cache), cache].find { |path| !private?(path) }
      raise NotBuilt, "cannot keep the load tool in #{unsafe}: another user can write there" if unsafe

      cache
    rescue SystemCallError, ArgumentError => e
      raise NotBuilt, "cannot keep the load tool in #{@own_directory}, which is not writable, nor in the cache " \
                      "directory: #{e.message} (XDG_CACHE_HOME names another one)"
    end

    # The name has a digest of the sources: the version of a gem from a git repository does not change with them.
    def cache_directory
      home = @env["XDG_CACHE_HOME"].to_s
      home = File.join(Dir.home, ".cache") unless home.start_with?("/")
      File.join(home, "bontebok", digest)
    end

    def digest
      texts = Dir[File.join(@sources, "**/*")].select { |file| File.file?(file) }.map { |file| File.binread(file) }
      Digest::SHA256.hexdigest([RUBY_PLATFORM, *texts].join("\0"))[0, 16]
    end

    # Returns false if another user can replace a file in the directory.
    def private?(path)
      stat = File.lstat(path)
      stat.directory? && stat.owned? && stat.mode.nobits?(0o022)
    end
  end
end
