# frozen_string_literal: true

require_relative "../system/clock"
require_relative "children/pauses"
require_relative "companion/jobs"
require_relative "forked_process"

module Bontebok
  # A process that a master keeps beside its workers, if the configuration wants it (Config#companions): it serves
  # nothing, and is not on the scoreboard. It runs while the generation serves: from the word :serving of the supervisor
  # until the master is told to end or to stay loaded without workers. So the companions of two generations run together
  # only while the former one ends. The application must be loaded in the master. The drawing and TABLE are the same:
  #
  #   IDLE --start--> RUNNING --leave, hurry--> LEAVING --kill--> KILLED
  #    ^                                          |                 |
  #    +-------------------gone-------------------+-----------------+
  #
  #   RUNNING --kill--> KILLED
  #   LEAVING --hurry--> LEAVING
  #
  # leave: it was told to end, or has ended by itself. gone: none of its processes is left. An event without a place
  # in the table changes nothing.
  #
  # TERM goes to the process alone, which ends those that it has forked. When it has ended, the others get TERM, too.
  # Processes that are left when the time is over are killed. Each end that nobody has asked for counts as a failure:
  # the next start waits for a pause, as that of a worker that fails (Children::Pauses).
  class Companion
    TABLE = {
      idle: { start: :running },
      running: { leave: :leaving, hurry: :leaving, kill: :killed },
      leaving: { hurry: :leaving, kill: :killed, gone: :idle },
      killed: { gone: :idle }
    }.freeze

    # name: in the log, with its verb in the plural. work: what it does (Jobs). pause: seconds after a first failure.
    # to_close: what belongs to the master and is not named in its ForkGuard.
    def initialize(name, work, pause:, log:, to_close: [])
      @name = name
      @work = work
      @log = log
      @to_close = to_close
      @pauses = Children::Pauses.new(pause)
      @wanted = false
      @state = :idle
    end

    # True if none of its processes is left.
    def empty? = @state == :idle

    # --- commands ---

    # It runs from now on. The supervisor may say so several times. The log says once if it cannot run.
    def serve
      fault = @work.fault
      @log.error(fault) if fault && !@told
      @told = true
      @wanted = fault.nil?
    end

    # It is to end, at once or not.
    def stop(at_once: false)
      @wanted = false
      return unless change(at_once ? :hurry : :leave)

      @group.tell(at_once ? "QUIT" : "TERM")
      expect(at_once ? ForkedProcess::QUIT_SECONDS : @work.seconds)
    end

    def kill
      @wanted = false
      kill_now
    end

    # Called in a forked process.
    def disown
      @group&.close
    end
    alias close disown

    # --- the loop ---

    # The time (Clock) of the next #tick; nil: there is none. The end of the leader is a signal (CHLD), the end of
    # another process is none.
    def deadline
      return (@pauses.over(1) if @wanted) if empty?
      return Clock.now + Clock::STEP if @group.ending

      @deadline unless @state == :killed
    end

    def tick
      look unless empty?
      start if @wanted && empty? && @pauses.over(1) <= Clock.now
    end

    private

    # Returns the new state; nil: the table has no place for the event.
    def change(event)
      state = TABLE.fetch(@state)[event]
      @state = state if state
    end

    def look
      note_end if @group.ending.nil? && @group.check
      return forget if @group.gone? || (@state == :killed && @group.ending && overdue?)

      kill_late if @state != :killed && overdue?
    end

    def overdue? = !@deadline.nil? && @deadline <= Clock.now

    def expect(seconds)
      @deadline = Clock.now + seconds
    end

    # EAGAIN: the system has rejected the fork.
    def start
      @group = @work.start(@to_close)
      change(:start)
      @began = Clock.now
      @deadline = nil
      @pauses.started
      @log.info("#{label} run beside the workers")
    rescue Errno::EAGAIN => e
      @log.error("#{@name} cannot be started: the system refuses another process", e)
      @pauses.refused
    rescue SystemCallError => e
      @log.error("#{@name} cannot be started", e)
      @pauses.failed(1)
    end

    # The others of its group get the rest of its time.
    def note_end
      if @state == :running
        note_failure
        expect(@work.seconds)
        change(:leave)
      else
        level = @state == :killed || @group.ending == "exit status 0" ? :info : :warn
        @log.write(level, "#{label} have left: #{@group.ending}")
      end
      @group.signal("TERM")
    end

    # It has run well if it has run for longer than any pause.
    def note_failure
      seconds = Clock.now - @began
      @pauses.ready(1) if seconds > Children::Pauses::LONGEST
      @pauses.failed(1)
      pause = [@pauses.over(1) - Clock.now, 0].max
      @log.warn("#{label} ended: #{@group.ending}, #{seconds.round(1)} s after their start; they are started again " \
                "in #{pause.round(1)} s")
    end

    def kill_late
      @log.error("#{label} did not end in time: killed")
      kill_now
    end

    def kill_now
      return unless change(:kill)

      @group.signal("KILL")
      expect(ForkedProcess::KILL_SECONDS) # then the rest counts as gone: it may be that nobody reaps it
    end

    def forget
      change(:gone)
      @group.close
      @group = nil
    end

    def label = "#{@name} (pid #{@group.leader})"
  end
end
