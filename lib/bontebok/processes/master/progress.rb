# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  # How a generation (a master and its workers) comes into service: loaded, ready, whole. The master reports each step
  # to the supervisor once. Used by Master.
  #
  # A generation with a trial has a former one, which serves until this one is whole, and stays if this one fails. A
  # master can be parked: its workers retire, and it reports nothing until it starts workers again.
  class Progress
    STEPS = %i[loaded ready whole].freeze

    # The time (Clock) of the next #tick; nil: it need not be called.
    attr_reader :deadline

    # workers: the Children. trial, canary: see Master. silence: the seconds after which a worker that ends is no longer
    # reported to the command that waits for the deploy. Yields :ready once, and :failed.
    def initialize(workers, channel, generation:, trial:, canary:, silence:, log:, &note)
      @workers = workers
      @channel = channel
      @generation = generation
      @trial = trial
      @silence = silence
      @log = log
      @note = note
      @steps = STEPS.dup
      begin_trial(together: !canary) if trial.positive?
    end

    # True after :loaded was reported.
    def loaded? = !@steps.include?(:loaded)

    # True from the first worker that was ready on.
    def booted? = @booted

    # True if the generation must end, because it does not come into service.
    def failed? = @failed

    def parked? = @parked

    # False if no former generation serves.
    def trial? = @trial.positive?

    # Reports the steps that are new.
    def tick
      tell unless @parked
      dismiss_witness if @deadline && @deadline <= Clock.now
    end

    # The sockets listen: the block is called, and the workers serve. On the second call, no other generation serves:
    # each worker serves as soon as it is ready.
    def go
      return end_trial if @went

      @went = true
      yield
      @workers.go
    end

    # Replaces workers or changes their number. word: :renew, :renew_slowly, :more or :fewer.
    def change(word)
      return if @ends

      @trial -= 1 if word == :fewer && @trial > 1
      @workers.public_send(word)
      @steps |= [:whole] if word == :more # the supervisor awaits it, also if :fewer follows at once
    end

    # The workers retire. The application stays loaded.
    def park
      @parked = true
      @workers.stop(:retire)
    end

    # The parked master starts workers again.
    def begin_again
      @workers.resume
      @parked = @went = @waits = false
      @steps = STEPS.dup
      begin_trial
    end

    # Called when the generation ends. Also a parked one then says that its workers wait.
    def end
      @ends = true
      @parked = false
    end

    private

    # Failed workers do not delay :loaded and :ready, but the generation is not whole without them. A generation that is
    # not whole any more says :whole again.
    def tell
      return tell_end if @ends

      number = @workers.hopeless if @on_trial
      return fail("worker #{number} has ended before it was ready, twice in a row") if number

      @steps << :whole if @steps.empty? && !@workers.whole?
      while (step = @steps.first) && settled?(step)
        return fail("no worker became ready") unless step == :whole || @workers.any?(step)

        say(@steps.shift)
      end
    end

    # Says once that all workers only wait for hijacked connections, so that the supervisor gives the master more time.
    def tell_end
      return if @waits || !@workers.waiting?

      @waits = true
      @channel.say(:waits)
    end

    def settled?(step)
      step == :whole ? @workers.whole? : @workers.settled?(step)
    end

    def say(step)
      @channel.say(step)
      note_ready if step == :ready
      note_whole if step == :whole
    end

    def note_ready
      if @generation == 1 then @log.dismiss_witness
      elsif !@workers.whole?
        @log.warn("not all workers are ready: the former workers serve until all are")
      end
      @note.call(:ready) unless @booted
      @booted = true
    end

    # With deploy_surge, the trial goes on until all workers are ready. Workers that end soon after that are also
    # reported to the waiting command (see Rollout).
    def note_whole
      return if @workers.size < @trial

      end_trial
      @deadline = Clock.now + @silence
    end

    def dismiss_witness
      @log.dismiss_witness
      @deadline = nil
    end

    def begin_trial(together: true)
      @on_trial = true
      @workers.together = together
    end

    def end_trial
      @trial = 0
      @on_trial = @workers.together = false
    end

    # During a rollback, workers from before the deploy may still finish requests.
    def fail(reason)
      @log.error(reason)
      @failed = true
      @channel.say(:failed)
      @note.call(:failed)
    end
  end
end
