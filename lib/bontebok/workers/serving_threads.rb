# frozen_string_literal: true

require_relative "../system/clock"

module Bontebok
  # The threads of Lanes: one for each lane. If the application kills one of them, another takes its place.
  #
  # The threads run their own code with all interrupts delayed. The application can interrupt only #serve, so each
  # thread gets to its end, where it starts its successor. An exception that is still pending then is lost.
  class ServingThreads
    # The least seconds between the starts of two threads for one lane: the application may kill each of them.
    START_INTERVAL = 0.1
    private_constant :START_INTERVAL

    # process: an OwnProcess or CallersProcess. ended: called when all lanes have ended, and again at #note_end(0).
    def initialize(lanes, hooks:, process:, log:, &ended)
      @lanes = lanes
      @hooks = hooks
      @process = process
      @log = log
      @ended = ended
      @lock = Mutex.new
    end

    # Yields when all threads exist, before they serve. Raises ThreadError if not all threads can be created. After this
    # error, or an exception of the block, no lane has accepted a connection.
    def start
      @left = @lanes.size
      @threads = []
      @lock.synchronize do
        @lanes.each { |lane| @threads << thread(lane) }
        yield if block_given?
        @serves = true
      end
    ensure
      join unless @serves
    end

    # Kills the threads, which closes the connections of their requests. New threads serve the lanes' others to the end.
    def cut
      @cut = true
      @lock.synchronize { @threads.dup }.each(&:kill)
    end

    # True if a thread is left.
    def alive? = @lock.synchronize { @threads.any?(&:alive?) }

    def include?(thread) = @threads.include?(thread)

    def join = @threads.each(&:join)

    def note_end(lanes = 1)
      @lock.synchronize { @ended.call if (@left -= lanes).zero? }
    end

    private

    # successor: the thread replaces a thread that a hook may have killed, so it runs no hooks. The new thread copies
    # the delay of interrupts.
    def thread(lane, successor: false)
      Thread.handle_interrupt(Object => :never) { Thread.new { run(lane, successor) } }
    end

    def run(lane, successor)
      Thread.current.name = "bontebok #{@lanes.index(lane) + 1}"
      return unless @lock.synchronize { @serves }

      began = Clock.now
      served = false
      Thread.handle_interrupt(Object => :immediate) { serve(lane, successor) { served = true } }
      drained = true
    rescue Exception => e # rubocop:disable Lint/RescueException
      error = e
    ensure
      note_end if drained
      go_on(lane, began, error, served) if began && !drained
    end

    # Returns when the lane has drained. Yields when the lane begins to serve.
    def serve(lane, successor)
      @hooks.attempt(:before_thread_start, log: @log) unless successor
      yield
      lane.serve
      @hooks.attempt(:before_thread_exit, log: @log) unless successor
    end

    # This thread was killed, or an exception has ended it. Its request is lost. A new thread serves the lane's other
    # connections. If the application has done this, the process must end, because the thread may have left other work
    # unfinished. But if a hook has ended the thread before it served, this hook would do the same in the next process.
    def go_on(lane, began, error, served)
      sleep([began + START_INTERVAL - Clock.now, 0].max) unless @cut || @process.exits?
      return note_end if @process.exits?

      @lock.synchronize { @threads[@threads.index(Thread.current)] = thread(lane, successor: true) }
      message = "a serving thread #{error ? 'has failed' : 'was killed'}: a new thread takes its place"
      return @log.error(message, error) unless served

      @process.damaged(message, error) unless @cut
    rescue ThreadError => e
      @process.damaged("a serving thread has ended, and no new thread could be started", e)
      note_end
    end
  end
end
