# frozen_string_literal: true

require "rbconfig"
require_relative "../build"
require_relative "callgrind"
require_relative "../contestants"
require_relative "revision"

module Bench
  # The whole server with one worker, in one process: the core, the binding and Ruby, of this checkout and of another
  # revision.
  #
  # Only the thread that serves counts, and only its work in the loop of the binding. The load tool has one connection,
  # so that each request takes the same path. With more connections, the scheduler decides how many of them the I/O
  # thread takes over: two runs would differ by up to 10 %. The application decides when the garbage collector runs:
  # else two runs would differ by up to 3 %.
  #
  # Noise with kept connections: single runs of one revision differed by up to 0.5 %, two medians of three runs by
  # 0.28 %. Most of it is Ruby's hash seed, a new one for each process. With new connections, single runs differed by up
  # to 6 %, because the scheduler decides how often the thread waits for the next connection.
  class RubyWorkers
    NAME = "bontebok, one worker"
    LOOP = "bbr_serve" # of the binding, for callgrind
    HELLO = File.join(Contestants::APPS, "hello_gc.ru")

    # dir: a directory for the other revision. before: its name; nil: none.
    def initialize(dir, before: nil)
      @dir = dir
      @before = before
    end

    # { name => instructions per request for each of Callgrind::KINDS }, the other revision first. Yields a Proc as
    # Price#serve takes it, and the Proc of Callgrind#per_request.
    def instructions(rounds, &serve)
      callgrind = Callgrind.new(rounds: rounds, connections: 1, below: LOOP)
      roots.transform_values do |root|
        callgrind.per_request { |wrap, load| serve.call(->(address) { contestant(wrap, root, address) }, load) }
      end
    end

    # { name => Proc that gets an address and returns the server with a worker process }, the other revision first.
    def contestants
      roots.transform_values { |root| ->(address) { contestant([], root, address, workers: 1) } }
    end

    private

    # { name => directory }
    def roots
      @roots ||= { **other, NAME => Build::ROOT }
    end

    def other
      @before ? { "#{NAME}, #{@before}" => Revision.check_out(@before, File.join(@dir, "worker")) } : {}
    end

    # exe/bontebok puts its own lib in front of that of the Gemfile. callgrind does not follow `bundle exec`.
    def contestant(wrap, root, address, workers: 0)
      command = [*wrap, RbConfig.ruby, "-rbundler/setup", File.join(root, "exe/bontebok"), "-w", workers.to_s,
                 "-t", "1", "-E", "production", "-l", Contestants.listen(address), HELLO]
      Contestants::Contestant.new(name: NAME, env: Build.gems_of(File.join(Build::ROOT, "Gemfile")), command: command)
    end
  end
end
