# frozen_string_literal: true

require_relative "../passed_variable"
require_relative "../../system/proc/process_state"

module Bontebok
  # The totals of a server: responses, bytes, times, and events with names. They are in memory that all processes of the
  # server share. Totals never fall: they survive workers that are killed, and deploys.
  #
  # A process counts in its own memory, which belongs to the scoreboard of its workers, because each lane counts in the
  # block of its slot. Another scoreboard has another memory. The server's totals are the sums over all memories.
  class Totals
    # The number of blocks. A scoreboard has as many slots.
    LANES = 1024
    # The environment variable for a program that is executed in place: the numbers of the files.
    VARIABLE = "BONTEBOK_TOTALS"
    # How many other memories are kept. Each has a descriptor.
    MOST = 16

    # The names of the totals that Ruby counts (#count). The core's names are in bontebok_metrics.h.

    # Why a worker has ended. The total is "ended REASON".
    ENDS = {
      "asked" => "its generation ends, or somebody has asked for other or fewer workers",
      "limit" => "it has reached max_requests, max_worker_age, max_worker_memory, or its limit of descriptors",
      "application" => "the application has asked for it, or has damaged the process",
      "timeout" => "a request has taken longer than request_timeout",
      "hung" => "it has not moved for worker_timeout",
      "late" => "it has not finished its requests in time",
      "killed" => "another process has sent a signal, or the memory was full",
      "crashed" => "it has ended by itself",
      "failed" => "it has ended before it was ready"
    }.freeze

    # How a deploy has ended. The total is "deploy RESULT".
    DEPLOYS = {
      "succeeded" => "the new generation serves",
      "failed" => "the new generation has failed",
      "canary_bad" => "the canary had too many errors, or has lost a worker",
      "canary_few" => "the canary got too few requests",
      "superseded" => "another deploy has replaced it",
      "rolled_back" => "the former generation serves again"
    }.freeze

    # Requests that have taken longer than request_timeout_soft. Without this limit: longer than request_timeout.
    SLOW = "slow requests"
    # Lines of the server's own log that could not be written.
    LOST = "log lines lost"

    # io: its file, or nil. metrics: a Core::Metrics; nil: another version of Bontebok has made the file, with another
    # layout. master: the pid of the master that the memory was made for, or nil.
    Memory = Struct.new(:io, :metrics, :master) do
      # True if the process that the memory was made for has ended, and all of its workers.
      def free?
        !master.nil? && [master, *metrics.lanes.map { |lane| lane[:pid] }].all? { |pid| ProcessState.gone?(pid) }
      end
    end
    private_constant :Memory

    # An executed master gets these: the files for .attach. shared: the first memory is also used by others, because the
    # master uses the same scoreboard.
    Passed = Struct.new(:files, :shared)

    class << self
      # The layouts of this version's scoreboards and totals.
      def layouts = [Core::Scoreboard::LAYOUT, Core::Metrics::LAYOUT]

      # Returns totals with an own memory. others: memories of other processes, which are only read.
      def open(others = [])
        new(make || Memory.new(nil, Core::Metrics.new(LANES)), others)
      end

      # Returns the totals of an executed process. files: IO objects with copies of #descriptors or of Passed#files. The
      # object owns them. own: the first one is the own memory. If it has another layout, or if own is false, this
      # process gets a new memory, and only keeps the files.
      def attach(files, own: true)
        memories = files.each { |io| io.close_on_exec = true }.map { |io| map(io) }
        own && memories.first&.metrics ? new(memories.first, memories.drop(1)) : Totals.open(memories)
      end

      # Returns the totals of the former program, or nil. Removes the variable from env. Raises UsageError.
      def inherit(env)
        files = PassedVariable.read(env, VARIABLE, "the descriptors of totals") do |text|
          numbers(text).map { |number| IO.for_fd(number, autoclose: false) }
        end
        files && attach(files.each { |io| io.autoclose = true }).tap { |totals| totals.inherited = true }
      end

      # The numbers of the descriptors in the variable's text. Raises ArgumentError.
      def numbers(text)
        text.b.split(",", -1).tap { |all| all << "" if all.empty? }.map { |number| PassedVariable.descriptor(number) }
      end

      # Returns a new memory, or nil: none can be made, because RLIMIT_FSIZE is too low, or because the system has no
      # memfd_create. Then only forked processes share the memory.
      def make
        io = IO.for_fd(Core::Metrics.file(LANES))
        Memory.new(io, Core::Metrics.new(LANES, io.fileno))
      rescue SystemCallError
        io&.close
        nil
      end

      private

      def map(io)
        Memory.new(io, Core::Metrics.new(LANES, io.fileno))
      rescue ArgumentError, SystemCallError
        Memory.new(io)
      end
    end

    private_class_method :new

    def initialize(own, others)
      @own = own
      @others = others
    end

    # True if a former program of this process has counted in the memory.
    attr_accessor :inherited

    # The files of all memories: the own one first. Empty if the own memory is in no file.
    def descriptors = @own.io ? [@own, *@others].map(&:io) : []

    # The Core::Metrics of all memories that can be read: the own one first.
    def memories = [@own, *@others].filter_map(&:metrics)

    # Returns the Passed for a master. pid: of the master. layouts: its .layouts; nil: its version has no totals. A
    # master whose scoreboard has another layout has a scoreboard of its own, so it needs a memory of its own. A master
    # whose totals have another layout gets no files. links: the scoreboard is in a file.
    def pass(pid, layouts, links:)
      scoreboard, metrics = layouts
      return Passed.new([], false) unless metrics == Core::Metrics::LAYOUT

      shared = links && scoreboard == Core::Scoreboard::LAYOUT
      Passed.new(shared ? descriptors : lend(pid), shared)
    end

    # Lets the core's worker count. number: of the worker. Must be called before Core::Worker#start_io_thread.
    def connect(worker, number, generation)
      worker.metrics(@own.metrics, number, generation)
    end

    # Adds to the total with this name (see SLOW and LOST).
    def count(name, number = 1)
      @own.metrics.count(name, number)
    end

    # Notes that the server has started. If a former program has left the totals, this is the end of its deploy.
    def started
      return note(:deploy, "generation 1 serves (start)") unless inherited

      deployed("succeeded", "generation 1 serves (deploy)")
    end

    # Keeps the text with the present time. kind: :deploy or :end (of a worker).
    def note(kind, text)
      @own.metrics.note(kind, text)
    end

    # Counts the lines that the Log of this process, and of the processes that it forks, loses from now on.
    def count_losses(log)
      log.on_loss = -> { count(LOST) } if log.respond_to?(:on_loss=)
    end

    # "worker N gM": number and generation of the process that has had lanes; nil: it has had none.
    def worker(pid)
      lane = memories.flat_map(&:lanes).find { |one| one[:pid] == pid }
      "worker #{lane[:worker]} g#{lane[:generation]}" if lane
    end

    # Counts the end of a worker. reason: of ENDS. text: for a note; nil: there is no note.
    def ended(reason, text)
      raise KeyError, reason unless ENDS.key?(reason)

      count("ended #{reason}")
      note(:end, text) if text
    end

    # Counts the end of a deploy. result: of DEPLOYS.
    def deployed(result, text)
      raise KeyError, result unless DEPLOYS.key?(result)

      count("deploy #{result}")
      note(:deploy, text)
    end

    # Closes the descriptors. The memories stay mapped.
    def close
      [@own, *@others].filter_map(&:io).each(&:close)
    end
    alias disown close

    private

    # Returns the files for a master with a memory of its own. Empty: no memory can be made.
    def lend(pid)
      memory = @others.find(&:free?) || (Totals.make if @others.size < MOST)
      return [] unless memory

      memory.master = pid
      @others |= [memory]
      [memory.io, *(descriptors - [memory.io])]
    end
  end
end
