# frozen_string_literal: true

require "socket"

require_relative "duped_descriptor"
require_relative "shared/shared_numbers"
require_relative "shared/totals"
require_relative "stalled_workers"
require_relative "../start_error"
require_relative "../system/error_text"

module Bontebok
  # The shared queue, the scoreboard and the totals of all workers. A busy worker puts a connection with a request into
  # the shared queue, and the first idle worker serves the request. The scoreboard shows which workers are idle. The
  # started process creates all of them before it forks.
  class WorkerLinks
    # Number of slots of the scoreboard. Each lane of each worker has a slot. A lane without a slot serves as well, but
    # gets no connections from other workers.
    LANES = Totals::LANES

    # A process outside needs these to watch the server: IO objects, and nil if the scoreboard is in no file. queue: the
    # receiving end of the shared queue. counter: the file of the scoreboard that counts the requests in the queue.
    # totals: see Totals#descriptors.
    Observed = Struct.new(:scoreboard, :totals, :queue, :counter)

    # Returns the links of the supervisor. totals: of this server; nil: they are inherited or made. Raises StartError.
    def self.open(totals: nil)
      require "bontebok/bontebok" # here, so that a start can report that the extension is not built
      new(make_file, Core::PORTABLE ? [] : Socket.pair(:UNIX, :SEQPACKET),
          totals: totals || Totals.inherit(ENV))
    rescue SystemCallError => e
      raise StartError, "cannot create the workers' shared queue and scoreboard: #{ErrorText.of(e)}"
    end

    # Returns the file of the scoreboard; nil: none can be made, because RLIMIT_FSIZE is too low, or because the system
    # has no memfd_create. Then executed masters cannot use the scoreboard.
    def self.make_file
      IO.for_fd(Core::Scoreboard.file(LANES))
    rescue SystemCallError
      nil
    end
    private_class_method :make_file

    # Returns the links in an executed process. descriptors: IO objects with copies of #descriptors. totals: nil: they
    # are made. Raises ArgumentError if the scoreboard is not among them, or if its layout differs, because another
    # version of Bontebok has made it. After an error they are closed: the workers must not have them.
    def self.attach(descriptors, totals: nil)
      memory, first, last, counter = descriptors.each { |io| io&.close_on_exec = true }
      raise ArgumentError, "the scoreboard is not in a file" unless memory

      ends = [first, last].map { |io| Socket.for_fd(io.tap { io.autoclose = false }.fileno) }
      new(memory, ends, counter, totals: totals)
    rescue ArgumentError, SystemCallError
      [memory, *(ends || [first, last]), counter].compact.each(&:close)
      raise
    end

    # Returns links with the shared queue of another server, and totals of their own. descriptors: IO objects with
    # copies of #queue of that server. Raises ArgumentError and closes the descriptors as .attach does.
    def self.join(descriptors)
      attach([make_file, *descriptors.rotate])
    end

    # memory: the file of the scoreboard, or nil. ends: the shared queue; empty if one process serves, whose core has a
    # queue of its own (Core::PORTABLE). counter: the file of another server's scoreboard, which counts the requests in
    # the queue; nil: the own one does. totals: as in .attach. The object owns them.
    def initialize(memory, ends, counter = nil, totals: nil)
      @memory = memory
      @ends = ends
      @scoreboard = Core::Scoreboard.new(LANES, memory&.fileno)
      @counter_file = counter
      @counter = counter ? Core::Scoreboard.new(LANES, counter.fileno) : @scoreboard
      @lent = []
      @totals = totals || Totals.open
    end

    attr_reader :totals

    # The descriptors for a process that the supervisor executes; none if the scoreboard is in no file.
    def descriptors = @memory ? [@memory, *@ends, @counter_file].compact : []

    # The descriptors for another server, which shares the queue and has a scoreboard of its own (see .join).
    def queue
      @memory ? [@counter_file || @memory, *@ends] : []
    end

    # Returns an Observed.
    def observed
      Observed.new(@memory, @totals.descriptors, @ends.reject(&:closed?).last, @counter_file || @memory)
    end

    # Returns the SharedNumbers of the server.
    def numbers = SharedNumbers.new([@scoreboard], @totals.memories, @counter)

    # The requests that wait: see SharedNumbers#waiting. nil: this process has closed its copy of the queue.
    def waiting_requests = numbers.waiting(@ends.reject(&:closed?).last)

    # Gives the links to the core's worker. number, generation: of the worker. Must be called before the first lane is
    # created.
    def connect(worker, number: 1, generation: 1)
      @lent = @ends.map { |socket| DupedDescriptor.new(socket) }
      worker.share_queue(*@lent.map(&:fileno)) if @lent.any?
      worker.scoreboard(@scoreboard, @counter)
      @totals.connect(worker, number, generation)
    end

    # Removes the lanes of a worker that has ended from the scoreboard. If a removed lane was woken for a connection and
    # did not accept it, a lane of another worker is woken.
    def forget(pid)
      queue = @ends.first
      @scoreboard.clear(pid, queue.closed? ? -1 : queue.fileno, @counter)
    end

    # Returns a StalledWorkers for these workers, or nil if seconds is 0 (no limit).
    def stalled(seconds)
      StalledWorkers.new(@scoreboard, seconds) if seconds.positive?
    end

    # True if a worker runs. seconds: worker_timeout.
    def moving?(seconds) = StalledWorkers.moving?(@scoreboard, seconds)

    # The pids of the living workers that have lanes on the scoreboard.
    def pids
      @scoreboard.lanes.map { |lane| lane[:pid] }.uniq
    end

    # The pids of the workers that are not leaving.
    def serving = pids - leaving

    # What the workers do: [{ pid:, threads:, busy:, requests:, errors:, leaves:, longest: }, ...]. longest: ms since
    # the oldest current request of the worker has begun; nil: no request.
    def processes
      @scoreboard.lanes.group_by { |lane| lane[:pid] }.map { |pid, lanes| { pid: pid, **sum(lanes) } }
    end

    # The pids of the workers that are leaving: they finish their requests and end.
    def leaving = pids_with(:leaves)

    # The pids of the workers that only wait for hijacked connections, streams, or the hook before_worker_drain, or end
    # after such a wait.
    def waiting = pids_with(:waits)

    # true: the server announces to all clients that it will stop. See Core::Scoreboard#draining=.
    def draining=(value)
      @scoreboard.draining = value
    end

    # For a second, these workers and the others share the requests on kept-alive connections, in proportion to threads.
    def share_with(pids)
      @scoreboard.share_with(pids)
    end

    # Called before the workers end, if another server shares the queue. The workers give it their connections.
    def hand_over
      @scoreboard.draining = false
      @scoreboard.taken_over = true
    end

    # The files stay open: somebody may watch how the process finishes its requests (WatchAnswer).
    def close_queue = @ends.each(&:close)

    # Closes Ruby's descriptors. Those of the core and of other processes stay open, and the scoreboard stays mapped.
    def close
      [*@ends, @memory, @counter_file, @totals].compact.each(&:close)
    end

    # Called in a process that the application has forked.
    def disown
      close
      @lent.each(&:disown)
    end

    private

    # state: :leaves or :waits.
    def pids_with(state)
      @scoreboard.lanes.filter_map { |lane| lane[:pid] if lane[state] }.uniq
    end

    def sum(lanes)
      { threads: lanes.size, busy: lanes.count { |lane| lane[:state] == :request },
        requests: lanes.sum { |lane| lane[:requests] }, errors: lanes.sum { |lane| lane[:errors] },
        leaves: lanes.any? { |lane| lane[:leaves] }, longest: lanes.filter_map { |lane| lane[:taken] }.max }
    end
  end
end
