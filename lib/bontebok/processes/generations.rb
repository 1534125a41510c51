# frozen_string_literal: true

require_relative "children"
require_relative "generations/keeping"
require_relative "generations/surging"
require_relative "../system/clock"
require_relative "../system/process_stop"

module Bontebok
  # The supervisor's masters. A generation is a master with its workers. During a deploy there are two generations. The
  # former generation serves until the next generation is whole: all its workers are ready. The deploy fails if the next
  # generation is not whole within worker_boot_timeout, if none of its workers becomes ready, if its master ends before
  # that, or if its listeners cannot listen. Then the next generation ends, and the former generation stays. A call of
  # #renew tries again.
  class Generations < Children
    include Keeping
    include Surging

    # Seconds that a master gets to end, in addition to the time of its workers. If the master were killed before its
    # workers, nobody would kill a worker that does not end.
    MASTER_SECONDS = 5

    # All of these are called with a master, except start and workers, which returns how many workers the present master
    # must have:
    #
    #   loaded   It has loaded the application, and is told to serve next. A false result fails the deploy.
    #   surge    All workers that it has started are ready. The result is the number of workers that it must start next,
    #            and the number of former workers that leave; or :hold (see #go_on and #take_back).
    #   crashed  One of its workers has ended by itself.
    #   keep     All its workers are ready. The result is the seconds for which the former master stays loaded.
    #   serves   It was told to stay loaded without workers. The result is whether its workers still serve.
    #   whole    It serves in place of the former master.
    #   failed   Its deploy has failed. The second argument is the reason, without the subject of the sentence.
    #
    # For the others see Children.
    def self.of(config, log, **calls, &start)
      new(limit: limit(config), log: log, **times(config), **calls, &start)
    end

    def self.times(config)
      { pause: config.seconds(:err_respawn_interval), grace: config.seconds(:graceful_timeout),
        hijack: config.seconds(:hijack_timeout) }
    end

    def self.limit(config)
      seconds = config.boot_seconds
      seconds.zero? ? Float::INFINITY : seconds
    end

    # limit: seconds that the next generation gets to become whole.
    def initialize(limit:, loaded: proc { true }, whole: proc {}, failed: proc {}, keep: proc { 0 },
                   serves: proc {}, surge: proc { 0 }, crashed: proc {}, workers: proc { 1 }, **options, &start)
      super("master", 1, margin: MASTER_SECONDS, **options, &start)
      @limit = limit
      @loaded = loaded
      @whole = whole
      @keep = keep
      @serves = serves
      @surge = surge
      @crashed = crashed
      @workers = workers
      @shrunk = []
      @failed = failed
      @limits = {}
      @on_trial = []
    end

    # Takes the times of another configuration. Running deadlines do not change.
    def configure(config)
      @limit = Generations.limit(config)
      take_times(**Generations.times(config))
    end

    def tick
      tick_kept
      super
      return if @stopping

      give_up_late_ones
      tell_lonely_ones if @go
    end

    # Of all masters.
    def pids = @roster.map(&:pid)

    # True if a master that serves has an open channel and is not frozen.
    def answering?
      @roster.audible.any? do |child|
        child.reached?(:ready) && !child.leaving? && ProcessStop.of(child.pid).nil?
      end
    end

    # True if a former generation serves until the master is whole, and stays if the master fails.
    def on_trial?(child)
      child.staying? && !@roster.former(child).nil?
    end

    private

    def succession
      :whole
    end

    def deadlines
      return super if @stopping

      super + @limits.values + kept_deadlines
    end

    def limit(child)
      @limits[child] ||= Clock.now + @limit
    end

    def note(child, word)
      case word
      when :crashed then @crashed.call(child)
      when :failed then note_failed(child)
      else super
      end
    end

    # The master ends by itself, but its workers from before a rollback may first finish their requests.
    def note_failed(child)
      give_up(child, "did not get its workers ready") if child.staying?
    end

    def note_progress(child, step)
      return give_up(child, "cannot listen") if step == :loaded && !child.leaving? && !@loaded.call(child)

      more, leave = step == :whole && !child.leaving? ? @surge.call(child) : 0
      return hold(child) if more == :hold
      return continue(child, more, leave) if more.positive?

      super
      return unless step == :whole

      @shrunk.delete(child)
      @whole.call(child) if child.staying?
    end

    # A master that ends before it is whole ends the deploy.
    def note_end(child)
      @limits.delete(child)
      return super if @stopping || !undecided?(child)

      @record.failed(child)
      fail_deploy(child, "has ended: #{child.ending}")
    end

    # A master that closes its channel before it is whole ends the deploy as well: it ends slowly, or has executed
    # another program.
    def note_lost(child)
      return super unless undecided?(child)

      child.await_end(@seconds[:retire])
      @record.deserted(child)
      fail_deploy(child, "has failed before it was ready")
    end

    def undecided?(child)
      on_trial?(child) && !child.reached?(:whole)
    end

    def give_up_late_ones
      @roster.each { |child| limit(child) if on_trial?(child) && !child.reached?(:ready) }
      @limits.select! { |child, _| on_trial?(child) && !child.reached?(:whole) }
      late = @limits.select { |_, time| time <= Clock.now }.keys
      late.each { |child| give_up(child, "did not get all of its workers ready within #{@limit} s") }
    end

    # The second :go tells a master that its former generation has gone.
    def tell_lonely_ones
      former = @on_trial
      @on_trial = @roster.select { |child| on_trial?(child) }
      lonely = (@roster.to_a & former) - @on_trial
      lonely.each { |child| child.tell(:go) unless child.leaving? || child.reached?(:whole) }
    end

    def give_up(child, reason)
      @record.given_up(child, reason)
      fail_deploy(child, reason)
      child.retire(@seconds[:retire])
    end

    def fail_deploy(child, reason)
      @failed.call(child, reason)
      former = @roster.former(child)
      former ? keep_present(former) : @pauses.failed(child.number)
      grow_back(child, former)
    end

    # The next master has failed, so the former one stays. If its own deploy was superseded, it takes effect now.
    def keep_present(former)
      @record.deploy_failed
      former.stay
      @whole.call(former) if former.reached?(:whole)
    end
  end
end
