# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  # A generation, which is a master with its workers, as the supervisor sees it. Words of the master, the clock and
  # commands are the events. The drawing and TABLE are the same:
  #
  #   STARTED --loaded--> LOADED --ready--> READY --whole--> WHOLE --serve--> SERVING --keep--> KEPT
  #      ^                                  |   ^              ^                                  |
  #      |                             hold |   | more         |                                  |
  #      |                                  v   |              |                                  |
  #      |                                  HELD -----whole----+                                  |
  #      +--------------------------------------revive--------------------------------------------+
  #
  #   READY, WHOLE     --keep-->  KEPT      a former one that did not get all of its workers ready, or was superseded
  #   STARTED to HELD  --fail-->  FAILED    its deploy has failed: whatever comes, it only ends
  #   STARTED to KEPT  --leave--> LEAVING   it was told to end
  #   STARTED to KEPT  --lose-->  LOST      its channel is closed, but the process runs on
  #   each             --end-->   ENDED
  #
  # LOADED: a worker of each number is loaded, or has failed; they wait until the listeners listen. READY: a worker of
  # each number serves, or has failed; or the master was told to start more. HELD: all workers that it has started
  # serve; the canary or the first seconds are judged (Rollout). WHOLE: all its workers serve. The newest generation
  # takes effect at once; one that another deploy has superseded does not. SERVING: it has taken effect. KEPT: it stays
  # loaded without workers. An event without a place in the table, or with the same state there, changes nothing.
  class Generation
    UNTIL_SERVING = { fail: :failed, leave: :leaving, lose: :lost, end: :ended }.freeze
    RUNNING = UNTIL_SERVING.except(:fail).freeze
    TABLE = {
      started: { loaded: :loaded, **UNTIL_SERVING },
      loaded: { ready: :ready, **UNTIL_SERVING },
      ready: { hold: :held, more: :ready, whole: :whole, keep: :kept, **UNTIL_SERVING },
      held: { hold: :held, more: :ready, whole: :whole, **UNTIL_SERVING },
      whole: { whole: :whole, serve: :serving, keep: :kept, **RUNNING },
      serving: { keep: :kept, **RUNNING },
      kept: { revive: :started, **RUNNING },
      failed: { loaded: :failed, ready: :failed, leave: :failed, end: :ended },
      leaving: { loaded: :leaving, ready: :leaving, leave: :leaving, end: :ended },
      lost: { leave: :lost, end: :ended },
      ended: {}
    }.freeze
    # How far it has come after these events, also if it leaves by now: an index of STEPS.
    PROGRESS = { revive: 0, loaded: 1, ready: 2, hold: 2, more: 2, whole: 3 }.freeze
    STEPS = %w[started loaded ready whole].freeze

    # Configuration and listeners of a generation. number: from 1. version: of Bontebok. config, listeners: nil until
    # its master has sent its configuration.
    Setup = Struct.new(:number, :version, :config, :listeners)

    attr_reader :state, :process, :setup
    # start: the StartOfMaster of an executed master. rollout: its Rollout. report: the DeployReport of an executed
    # master or of a rollback. All three are nil if there is none, and when the generation has taken effect.
    attr_accessor :start, :rollout, :report
    # Whether a command has asked for it. If not, it is the first one, or replaces one whose master has ended.
    attr_accessor :ordered
    # told: how many workers the master was told to have; nil: as many as the supervisor wants. whole_by: the time
    # (Clock) by which it must be whole; nil: no limit. on_trial: another generation served at the last look. shrunk:
    # the former generation has lost workers to it. asks: its master wants to be replaced.
    attr_accessor :told, :whole_by, :on_trial, :shrunk, :asks

    # process: the ForkedProcess of the master.
    def initialize(setup, process)
      @setup = setup
      @process = process
      @state = :started
      @progress = 0
    end

    # Returns the new state, or nil if the table has no place for the event.
    def change(event)
      state = TABLE.fetch(@state)[event] or return
      @progress = PROGRESS.fetch(event, @progress)
      @since = Clock.now if event == :ready
      @state = state
    end

    # step: :loaded, :ready or :whole.
    def reached?(step) = @progress >= PROGRESS.fetch(step)

    # True if its workers serve, as far as the supervisor knows.
    def serves? = %i[ready held whole serving].include?(@state)

    # True if it was told to end, or cannot be told.
    def leaving? = %i[failed leaving lost].include?(@state)

    # True if it was executed, or has begun again for a rollback, and has neither taken effect nor failed.
    def under_way? = !@report.nil? && !leaving?

    # For the log (Children::Record).
    def number = 1

    def pid = @process.pid

    def ending = @process.ending

    def status = @process.status

    def killed? = @process.killed?

    def seconds_ready = Clock.now - @since

    # Seconds that it has to end.
    def limit = @process.limit

    # Its process has loaded the application.
    def load
      change(:loaded)
      @process.loaded
    end

    # The canary or the first seconds are judged: both generations serve, without a time limit.
    def hold
      change(:hold)
      @whole_by = nil
    end

    # Tells the master a word that may change its number of workers. A master keeps one worker.
    def tell(word)
      @told += 1 if @told && word == :more
      @told -= 1 if @told && word == :fewer && @told > 1
      @process.tell(word)
    end

    # Tells the master to have this number of workers.
    def resize(number)
      difference = number - (@told || number)
      difference.abs.times { tell(difference.positive? ? :more : :fewer) }
    end

    # The master retires its workers and stays loaded. workers: the number that it starts if it serves again.
    def keep(workers)
      @told ||= workers
      @kept_workers = workers
      change(:keep)
      @process.tell(:park)
    end

    # The kept master starts workers, and reports its steps again.
    def revive
      change(:revive)
      @process.load_again
      resize(@kept_workers)
    end

    # How many workers it must have when it serves. present: the present number.
    def workers(present)
      @rollout ? @rollout.count(present) : @kept_workers
    end

    # how: :drain, :retire, :quit or :kill_children. seconds: until it is killed. A second :drain or :retire does
    # nothing.
    def leave(how, seconds, event = :leave)
      return if leaving? && %i[drain retire].include?(how)

      change(event)
      return @process.leave(how, seconds) unless how == :kill_children

      @process.expect(seconds)
      @process.channel.say(:kill)
    end

    # Its channel is closed. It may end already, so it gets no signal before the time is over.
    def lose(seconds)
      change(:lose)
      @process.expect(seconds)
    end

    # For a supervisor that executes another program in its place: values of JSON, as all versions of Bontebok have
    # them. newest: whether it is the newest one.
    def carry(newest)
      left = @process.deadline - Clock.now if @process.deadline
      { number: 1, pid: pid, progress: STEPS.fetch(@progress), staying: newest, leaving: leaving?, left: left,
        seconds_ready: (seconds_ready if reached?(:ready)), asks: @asks == true, unsent: @process.channel.unsent }
    end

    # In the new program. carried: the result of #carry after JSON. The former program may be of a version that did not
    # say :serving.
    def restore(carried)
      @progress = STEPS.index(carried.fetch("progress")) || 0
      @state = carried.fetch("leaving") ? :leaving : %i[started loaded ready serving].fetch(@progress)
      @since = Clock.now - carried.fetch("seconds_ready") if reached?(:ready)
      @process.loaded if reached?(:loaded)
      @process.expect(carried["left"]) if carried["left"]
      @asks = carried.fetch("asks")
      tell(:serving) if @state == :serving
    end
  end
end
