# frozen_string_literal: true

module Bontebok
  # How far a generation has come: its master reports each step to the supervisor, once.
  class Progress
    def initialize(channel)
      @channel = channel
      @steps = %i[loaded ready whole]
    end

    # True once the supervisor knows that workers are loaded.
    def loaded?
      !@steps.include?(:loaded)
    end

    def ready?
      !@steps.include?(:ready)
    end

    # Reports each step that all workers have reached. It does not wait for a worker that has failed, but without that
    # worker the generation is not whole. The block gets each reported step, or :failed if no worker has reached the
    # step.
    def tell(workers)
      while (step = @steps.first) && settled?(workers, step)
        return yield(:failed) unless step == :whole || workers.any?(step)

        @channel.say(@steps.shift)
        yield(step)
      end
    end

    private

    def settled?(workers, step)
      step == :whole ? workers.whole? : workers.settled?(step)
    end
  end
end
