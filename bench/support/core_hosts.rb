# frozen_string_literal: true

require "open3"
require_relative "build"

module Bench
  # Servers that have only the core and no Ruby (bench/floor/core_host.c), of this checkout and of another revision.
  class CoreHosts
    WITHOUT = "core without I/O thread"
    WITH = "core with I/O thread"

    # dir: a directory for the programs. before: another revision; nil: none.
    def initialize(dir, before: nil)
      @dir = dir
      @before = before
    end

    # { name => command }
    def build
      now = compile("now", Build::ROOT)
      cores = { WITHOUT => [now], WITH => [now, "--io-thread"] }
      return cores unless @before

      root = check_out
      before = compile("before", root)
      { "#{@before} with I/O thread" => [before, option(root)], "#{@before} without" => [before], **cores }
    end

    private

    # The option for the I/O thread: --io-thread, or --porter in old revisions.
    def option(root) = File.read(File.join(root, "bench/floor/core_host.c"))[/--(?:io-thread|porter)/]

    def check_out
      File.join(@dir, "source").tap do |directory|
        Dir.mkdir(directory)
        status = Open3.pipeline(["git", "-C", Build::ROOT, "archive", @before, "core", "bench/floor"],
                                ["tar", "x", "-C", directory])
        abort("no such revision: #{@before}") unless status.all?(&:success?)
      end
    end

    def compile(name, root)
      sources = [File.join(root, "bench/floor/core_host.c"), *Dir.glob("#{root}/core/src/**/*.c"),
                 File.join(Build::ROOT, "bench/floor/threaded.c")]
      File.join(@dir, name).tap { |program| Build.link(program, sources, root) }
    end
  end
end
