# frozen_string_literal: true

require "bontebok/system/clock"
require "minitest/mock"
require_relative "world"

# Goes through all orders of events of a GenerationWorld, the shortest ones first.
class GenerationSearch
  # How many worlds differ.
  attr_reader :states

  def initialize(**world)
    @world = world
    @states = 0
    @seen = {}
    @queue = []
  end

  # Returns what is wrong and the events that lead to it, or nil.
  def fault
    Bontebok::Clock.stub(:now, -> { GenerationWorld.now }) do
      note(GenerationWorld.new(**@world), nil)
      search until @queue.empty? || @fault
    end
    @fault
  end

  private

  # path: [[[nil, event], event], ...], the last event outside.
  def search
    state, events, path = @queue.shift
    events.each do |event|
      world = Marshal.load(state) # rubocop:disable Security/MarshalLoad -- .note has dumped it
      world.happen(*event)
      note(world, [path, event])
    rescue ModelServer::Fault => e
      return @fault = "#{e.message}: #{way([path, event])}"
    end
  end

  def note(world, path)
    return if @seen[print = world.fingerprint]

    @seen[print] = true
    @states += 1
    events = world.events
    @queue << [Marshal.dump(world), events, path] if events.any?
  end

  def way(path)
    events = []
    until path.nil?
      path, event = path
      events.unshift(event.compact.join(" "))
    end
    events.join(", ")
  end
end
