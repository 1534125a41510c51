# frozen_string_literal: true

require_relative "../system/clock"

module Bontebok
  # The part of Master that acts on the steps of the generation (see Progress).
  module MasterSteps
    private

    def tell_progress
      return if @parked
      return @progress.tell_end(@workers) if @stopping

      number = @workers.hopeless if @on_trial
      return fail_to_start("worker #{number} has ended before it was ready, twice in a row") if number

      @progress.tell(@workers) { |step| note(step) }
    end

    # A former generation serves, and stays if this one fails.
    def begin_trial(together: true)
      @on_trial = true
      @workers.together = together
    end

    def end_trial
      @trial = 0
      @on_trial = @workers.together = false
    end

    # On the second :go, no other generation serves: each worker serves as soon as it is ready.
    def go
      return end_trial if @went

      @went = true
      @listeners.take_note
      @workers.go
    end

    def change_workers(word)
      return if @stopping

      @trial -= 1 if word == :fewer && @trial > 1
      @workers.public_send(word)
    end

    # The workers retire. The application stays loaded.
    def park
      @parked = true
      @ends.generation_ends(:park, @workers.size) unless @workers.empty?
      @workers.stop(:retire)
    end

    def serve_again
      @parked = @went = false
      @progress = Progress.new(@channel)
      @workers.resume
      begin_trial
    end

    def note(step)
      case step
      when :failed then fail_to_start("no worker became ready")
      when :whole then note_whole
      when :ready
        @generation > 1 ? warn_of_missing_workers : @log.dismiss_witness
        attempt_hook(:on_booted) unless @booted
        @booted = true
      end
    end

    # With deploy_surge, the trial goes on until all workers are ready. Workers that end soon after that are
    # also reported to the waiting command (see Deploy::Steps).
    def note_whole
      return if @workers.size < @trial

      end_trial
      @silent_at = Clock.now + @config.seconds(:err_respawn_interval)
    end

    def dismiss_witness
      return unless @silent_at && @silent_at <= Clock.now

      @log.dismiss_witness
      @silent_at = nil
    end

    def warn_of_missing_workers
      @log.warn("not all workers are ready: the former workers serve until all are") unless @workers.whole?
    end

    # During a rollback, workers from before the deploy may still finish requests.
    def fail_to_start(reason)
      @log.error(reason)
      @failed = true
      @channel.say(:failed)
      stop(:retire)
    end
  end
end
