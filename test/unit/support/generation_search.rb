# frozen_string_literal: true

require "bontebok/system/clock"
require_relative "generation_world"

# Goes through all orders of events of a GenerationWorld, the shortest ones first.
class GenerationSearch
  attr_reader :states

  def initialize(**world)
    @world = world
    @states = 0
  end

  # Returns what is wrong and the events that lead to it, or nil.
  def fault
    Bontebok::Clock.stub(:now, -> { GenerationWorld.now }) { search }
  end

  private

  def search
    queue = [[Marshal.dump(GenerationWorld.new(**@world)), nil]]
    seen = {}
    until queue.empty?
      state, path = queue.shift
      @states += 1
      Marshal.load(state).events.each do |event|
        world = Marshal.load(state)
        begin
          world.happen(*event)
        rescue GenerationWorld::Fault => e
          return "#{e.message}: #{way([path, event])}"
        end
        print = world.fingerprint
        next if seen[print]

        seen[print] = true
        queue << [Marshal.dump(world), [path, event]]
      end
    end
    nil
  end

  def way(path)
    events = []
    while path
      path, event = path
      events.unshift(event.compact.join(" "))
    end
    events.join(", ")
  end
end
