# frozen_string_literal: true

module Bontebok
  # How far a generation has come: what its master tells the supervisor, each once.
  class Progress
    def initialize(channel)
      @channel = channel
      @steps = %i[loaded ready whole]
    end

    # Some of the workers are loaded, or are ready.
    def loaded?
      !@steps.include?(:loaded)
    end

    def ready?
      !@steps.include?(:ready)
    end

    # Tells when all workers came so far. One that has failed is not waited for, but without it the generation is not
    # whole. The block is given each step that is told of; :failed instead if no worker came so far.
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
