# frozen_string_literal: true

module Bontebok
  # The steps of a generation (a master and its workers): loaded, ready, whole. The master reports each step to the
  # supervisor once.
  class Progress
    def initialize(channel)
      @channel = channel
      @steps = %i[loaded ready whole]
    end

    # True after :loaded was reported.
    def loaded?
      !@steps.include?(:loaded)
    end

    # Reports each step that all workers have reached, and :whole again when further workers were started and are ready.
    # Failed workers do not delay :loaded and :ready, but the generation is not whole without them. The block gets each
    # reported step, or :failed if no worker has reached the step.
    def tell(workers)
      while (step = @steps.first) && settled?(workers, step)
        return yield(:failed) unless step == :whole || workers.any?(step)

        @channel.say(@steps.shift)
        yield(step)
      end
      return unless @steps.empty? && whole_again?(workers)

      @channel.say(:whole)
      yield(:whole)
    end

    # Called while the generation ends. Reports once that all its workers only wait for hijacked connections, so that
    # the supervisor gives the master more time.
    def tell_end(workers)
      return if @waits || !workers.waiting?

      @waits = true
      @channel.say(:waits)
    end

    private

    # Returns whether the generation is whole again.
    def whole_again?(workers)
      former = @whole
      @whole = workers.whole?
      @whole && former == false
    end

    def settled?(workers, step)
      step == :whole ? workers.whole? : workers.settled?(step)
    end
  end
end
