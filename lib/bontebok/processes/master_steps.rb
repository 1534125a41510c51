# frozen_string_literal: true

require_relative "../system/clock"

module Bontebok
  # The part of Master that acts on the steps of the generation (see Progress).
  module MasterSteps
    private

    def tell_progress
      return if @parked

      @stopping ? @progress.tell_end(@workers) : @progress.tell(@workers) { |step| note(step) }
    end

    # The workers retire. The application stays loaded.
    def park
      @parked = true
      @workers.stop(:retire)
    end

    def serve_again
      @parked = false
      @progress = Progress.new(@channel)
      @workers.resume
    end

    def note(step)
      case step
      when :failed then fail_to_start
      when :whole then end_trial
      when :ready
        warn_of_missing_workers if @generation > 1
        attempt_hook(:on_booted) unless @booted
        @booted = true
      end
    end

    # With DeploySurge, the trial goes on until all workers are ready. The user who waits for the deploy also learns
    # about workers that end soon after that (see Deploy::Steps).
    def end_trial
      return if @workers.size < @trial

      @trial = 0
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
    def fail_to_start
      @log.error("no worker became ready")
      @failed = true
      @channel.say(:failed)
      stop(:retire)
    end
  end
end
