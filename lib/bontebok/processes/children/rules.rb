# frozen_string_literal: true

require_relative "../../system/clock"
require_relative "../forked_process"
require_relative "child"

module Bontebok
  class Children
    # The rules by which a master keeps one worker of each number:
    #
    #   - A worker that ends after it was ready is replaced at once. A worker that ends before it is ready has failed.
    #     The next worker of its number is started after a pause, which is longer after each failure in a row. If two
    #     workers of a number in a row end by themselves less than `pause` seconds after they were ready, the second one
    #     has failed as well.
    #   - A worker that asks to leave serves until its replacement is ready. Then it retires: it finishes its requests,
    #     and the other workers accept the new connections. If several workers ask, they are replaced one after the
    #     other. A worker that still loads retires at once. So a number has at most one worker that serves and one
    #     worker that loads, however often workers are replaced.
    #   - A worker in which requests hang (request_timeout) is replaced at once, without waiting for other replacements.
    #     If some of its threads hang, it serves with the other threads until its replacement is ready. After that, it
    #     gets graceful_timeout to finish. If all its threads hang, it gets one second, in which it passes its
    #     connections to other workers, except connections with a request that hangs. It is killed as soon as all its
    #     connections have requests that hang.
    #   - A worker that does not move (worker_timeout) is killed and replaced at once.
    #   - If workers hang, the number of workers is at most twice the number that must exist. At this limit, the next
    #     worker is started when a worker that hangs has ended.
    #   - A running worker that has closed its channel is replaced at once, because it cannot be told to end.
    #   - A worker that does not become ready in time, or does not end in time, is killed. The log names it.
    #
    # Children reports each event to this class. The answers go to the workers (words, signals, deadlines), to the log
    # and, as numbers to start, to Children. This class reads, forks and waits for nothing.
    class Rules
      # If all threads of a worker hang, the worker must end within this number of seconds.
      STUCK_SECONDS = 1

      # The workers of a new generation serve together while a former generation serves: no worker serves before a
      # worker of each number is prepared. So a release whose workers fail serves no request.
      attr_writer :together

      # boot: seconds that a worker gets to load, and again after :go to become ready. grace: seconds that a worker gets
      # to finish. hijack: seconds that it may then wait for hijacked connections.
      def initialize(roster, pauses, record, boot:, grace:, hijack:)
        @roster = roster
        @pauses = pauses
        @record = record
        @boot = boot
        @grace = grace
        @hijack = hijack + ForkedProcess::KILL_SECONDS
      end

      # The process of a new worker runs.
      def started(number, process)
        @roster.add(Child.new(number, process).tap { |child| child.boot(@boot) })
        @pauses.started
      end

      # The system has rejected the fork (EAGAIN). After a pause, a fork may succeed.
      def refused(number, error)
        @record.refused(number, error)
        @pauses.refused
      end

      # fault: the application is the cause.
      def not_started(number, error, fault:)
        @record.cannot_start(number, error)
        @pauses.failed(number, fault: fault)
      end

      # The worker has said the word (a message of Channel).
      def heard(child, word)
        case word
        when *Child::WORDS then child.blame(word)
        when :leave then @roster.queue(child.blame(:descriptors))
        when :hung, :stuck, :emptied then note_hung(child, word)
        when :waits then child.waits(@hijack)
        when :loaded, :prepared, :ready then note_step(child, word)
        end
      end

      # All words of the worker were heard.
      def ended(child)
        @roster.delete(child)
        if !child.reached?(:ready) && !child.leaving?
          @record.failed(child)
          @pauses.failed(child.number, fault: !child.ended_by_user?)
        elsif child.staying?
          @record.ended(child)
          @pauses.ended(child.number, child.seconds_ready)
        elsif child.reached?(:ready) || !@stopping
          @record.left(child)
        end
      end

      # The process does not move (worker_timeout). reason: in the words of the log.
      def stalled(pid, reason)
        child = @roster.find { |one| one.pid == pid && !one.killed? } or return
        replace(child.blame(:worker_timeout))
        kill_now(child, reason)
      end

      # The times at which #time_passed and #fill must be called.
      def deadlines
        times = @roster.flat_map { |child| [child.deadline, child.lost_at] }.compact
        @stopping ? times : times + @roster.startable.map { |number| @pauses.over(number) }
      end

      def time_passed
        let_serve
        @roster.select(&:lost?).each { |child| note_lost(child) }
        @roster.select(&:overdue?).each { |child| kill_now(child, child.omission) }
      end

      # Yields each number of which a worker must be started now.
      def fill
        return if @stopping

        @record.resized
        @roster.next_in_queue&.then { |child| replace(child) }
        note_crowd
        @roster.startable.each { |number| yield number if @pauses.over(number) <= Clock.now }
      end

      # Tells the loaded workers to serve, and from now on each worker as soon as it is loaded.
      def go
        @go = true
        @roster.each { |child| child.go(@boot) if child.reached?(:loaded) && !child.reached?(:ready) }
      end

      # Starts no more workers, and tells all workers how to end: :drain, :retire or :quit.
      def stop(how)
        @stopping = true
        @roster.each { |child| how == :quit ? child.quit(ForkedProcess::QUIT_SECONDS) : child.leave(how, @grace) }
      end

      def kill
        @stopping = true
        @roster.reject(&:killed?).each { |child| kill_now(child, "has not ended") }
      end

      # Starts workers again after #stop. They wait for #go, as the first ones. Failures from before #stop do not count.
      def resume
        @stopping = @go = false
        @pauses.clear
      end

      # Replaces all workers at once. All pauses after failures end, because the user may have repaired the fault.
      def renew
        @pauses.cut_short
        @roster.each { |child| replace(child.blame(:restart)) }
      end

      # Replaces the workers one after the other, as if each had asked to leave.
      def renew_slowly
        @pauses.cut_short
        @roster.queue(*@roster.each { |child| child.blame(:restart) })
      end

      # Adds a number: one more worker is started.
      def more
        @roster.grow
      end

      # Removes a number and retires its workers. Does nothing if there is only one number.
      def fewer
        number = @roster.shrink or return
        @pauses.forget(number)
        @roster.of(number).each { |child| retire(child.blame(:fewer)) }
      end

      def together? = @together

      # True if for each number one of these is true: a worker has reached the step, the last start has failed, or the
      # system has rejected the fork.
      def settled?(step)
        @roster.settled?(step) { |number| @pauses.failing?(number) || (@pauses.refused? && @roster.vacant?(number)) }
      end

      # A number of which two workers in a row have ended before they were ready, by a fault of their own; nil: none.
      def hopeless = @roster.numbers.find { |number| @pauses.faults(number) > 1 }

      private

      def note_step(child, step)
        child.reached(step)
        child.go(@boot) if step == :loaded && @go
        return unless step == :ready

        @pauses.ready(child.number)
        @roster.of(child.number).reject(&:staying?).each { |former| retire(former) } if child.staying?
      end

      def note_hung(child, word)
        return if child.killed?

        @record.hangs(child, word == :stuck) if word == :stuck || !child.hung?
        replace(child.blame(:request_timeout))
        child.hurry(STUCK_SECONDS) if word == :stuck
        kill_now(child, "has only requests that hang") if word == :emptied
      end

      # A lost worker counts like a worker that has ended.
      def note_lost(child)
        if !child.reached?(:ready)
          @pauses.failed(child.number, fault: true)
        elsif child.staying?
          @pauses.ended(child.number, child.seconds_ready)
        end
        child.blame(:lost).desert(@grace)
        @record.lost(child)
      end

      def note_crowd
        crowded = @roster.startable.size < @roster.missing.size
        @record.crowded(@roster.count(&:hung?)) if crowded && !@crowded
        @crowded = crowded
      end

      def let_serve
        return if together? && !@roster.whole?(:prepared)

        @roster.each { |child| child.serve(@boot) }
      end

      def replace(child)
        return unless child.staying?

        @pauses.leaves(child.number, child.seconds_ready) if child.reached?(:ready)
        child.replace
        at_once = @roster.dispensable?(child)
        @record.replaced(child, at_once) unless child.hung?
        retire(child) if at_once
      end

      def retire(child) = child.leave(:retire, @grace)

      def kill_now(child, reason)
        @record.killed(child, reason)
        child.kill(reason)
      end
    end
  end
end
