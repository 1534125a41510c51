# frozen_string_literal: true

# What has been ordered in a GenerationWorld, and what came of it. A generation has a number.
class GenerationHistory
  # results: number => :serves, :failed or :superseded. served: the numbers that have taken effect, in this order,
  # without replacements of dead masters. back: the last number that a rollback went to.
  attr_reader :results, :served, :back
  # ordered: a deploy is ordered, and its master is not started. harmed: a worker that served has ended by itself.
  # crashed: the number of a generation that has lost a worker on trial. asked: of the one that wants to be replaced.
  attr_accessor :ordered, :stopped, :harmed, :crashed, :asked

  def initialize
    @results = {}
    @served = []
  end

  # numbers: of the generations that are under way.
  def supersede(numbers)
    numbers.each { |number| @results[number] ||= :superseded }
  end

  # A master that replaces a dead one has the same code, as far as anybody knows.
  def start(number)
    @replacement = number unless @ordered || @asked || number == 1
    @ordered = false
    @asked = nil
  end

  def replacement?(number) = @replacement == number

  def serve(number)
    @results[number] = :serves
    @served.pop if replacement?(number)
    @replacement = nil
    @served.push(number)
  end

  def fail(number)
    @results[number] = :failed
  end

  def go_back(number)
    @back = number
    @results[number] = nil
  end

  # What served before the present generation.
  def former = @served[-2] || 1

  # A deploy that has not taken effect takes its workers along.
  def failures? = @results.values.intersect?(%i[failed superseded])

  # Histories that look alike count alike.
  def look = [@ordered, @stopped, @harmed, @back, @asked, @served.last(2)]
end
