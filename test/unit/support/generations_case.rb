# frozen_string_literal: true

require "bontebok/processes/generations"
require_relative "children_case"

# For tests of Generations with two generations.
module GenerationsCase
  include ChildrenCase

  # A master with some ready workers. When the test sends USR1, all workers of this master are ready.
  PARTIAL = lambda do |channel|
    Signal.trap("USR1") { channel.say(:whole) }
    STEADY.call(channel)
  end
  WHOLE = lambda do |channel|
    %i[loaded ready whole].each { |word| channel.say(word) }
    channel.to_io.wait_readable
    0
  end
  LIMIT = 60

  private

  # Starts the first generation, waits until it is whole, and starts the next generation.
  def begin_with(*behaviours, **calls)
    @keeper = Bontebok::Generations.new(limit: LIMIT, pause: 60, grace: 60, log: Bontebok::Log.new(@writer), **calls) do
      behaviour = behaviours.fetch(@started.size)
      @started << Bontebok::Child.fork(1, to_close: [@events], &behaviour)
      @started.last
    end
    mind_until { @keeper.any?(:whole) }
    @keeper.renew
    mind_until { @started.size == 2 }
  end
end
