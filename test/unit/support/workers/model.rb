# frozen_string_literal: true

require_relative "model_pauses"
require_relative "seen_worker"

# The rules for workers a second time, as what anybody can see from outside: after each turn of WorkersWalk, the model
# compares what processes have said with the words and signals that they got, with their deadlines, the starts and the
# log. Raises Fault.
class WorkersModel
  class Fault < StandardError; end

  attr_reader :size
  attr_accessor :go, :together

  def initialize(size)
    @size = size
    @workers = []
    @pauses = WorkersModelPauses.new
  end

  def alive = @workers.reject(&:gone)

  # The block gives the text of the fault.
  def expect(condition)
    raise Fault, yield unless condition
  end

  # Called before the turn in which the parent gets this order.
  def order(name)
    case name
    when :renew, :renew_slowly then @pauses.cut_short
    when :more then @size += 1
    when :fewer then remove_number
    when :go then @go = true
    when :resume then (@stopping = @go = false) || @pauses.clear
    when :reopen then alive.each(&:reopen)
    when :kill, *SeenWorker::TOLD then @stopping = true
    end
    alive.each { |worker| worker.asked = true } if name == :renew_slowly
  end

  # Called after the turn. attempts: [[number, process or failure], ...]. lines: of the log. stalled: the pids of
  # processes that do not move.
  def check(now, order, attempts, lines, stalled)
    @now = now
    @workers.reject!(&:gone)
    alive.each { |worker| note_words(worker, stalled) }
    prepared = (1..@size).all? { |number| of(number).any? { |worker| worker.said?(:prepared) } }
    told = alive.select { |worker| note_answers(worker, prepared) }
    note_replacements(lines, order)
    note_ends(lines)
    check_told(told) unless [*SeenWorker::TOLD, :fewer].include?(order)
    alive.each { |one| one.fault(now, order, go)&.then { |fault| expect(false) { "#{one.pid}: #{fault}" } } }
    @stopping ? expect(attempts.empty?) { "a start during a stop" } : check_starts(attempts)
    check_serving
  end

  # The answers that the parent must give to the same questions.

  def hopeless = (1..@size).find { |number| @pauses.faults[number] > 1 }

  def whole? = (1..@size).all? { |number| serving(number).any? }

  def waiting? = alive.any? && alive.all?(&:waiting)

  def settled?
    (1..@size).all? do |number|
      serving(number).any? || @pauses.failing?(number) || (@pauses.refused && of(number).all?(&:told))
    end
  end

  private

  def of(number) = alive.select { |worker| worker.number == number }

  def serving(number) = of(number).select { |worker| worker.ready? && !worker.told }

  def remove_number
    return if @size == 1

    @pauses.forget(@size)
    @size -= 1
  end

  def note_words(worker, stalled)
    before = [worker.ready?, worker.staying?]
    worker.note_words(@now, stalled: stalled.include?(worker.pid))
    @pauses.ready(worker.number) if worker.ready? && !before[0]
    leave_place(worker) if before[1] && !worker.staying?
    return unless worker.lost?(@now)

    note_own_end(worker, fault: true) if worker.staying? || !worker.ready?
    worker.lose(@now)
  end

  def leave_place(worker)
    @pauses.leaves(worker.number, @now - worker.ready_at) if worker.ready?
  end

  # A worker has ended that nobody has told to end.
  def note_own_end(worker, fault:)
    return @pauses.failed(worker.number, @now, fault: fault) unless worker.ready?

    @pauses.ended(worker.number, @now, @now - worker.ready_at)
  end

  def note_answers(worker, prepared)
    expect(prepared || !@together || !worker.hears?(:serve)) { "#{worker.pid} serves before others are prepared" }
    expect(@go || !worker.hears?(:go)) { "#{worker.pid} goes before the master" }
    worker.note_answers(@now)
  end

  def note_replacements(lines, order)
    pids = lines.filter_map { |line| line[/pid (\d+)\) (leaves when its|is replaced before)/, 1]&.to_i }
    replaced = alive.select { |worker| pids.include?(worker.pid) }
    replaced.each do |worker|
      leave_place(worker)
      worker.replaced = true
    end
    check_replaced(order == :renew ? [] : replaced.reject { |worker| worker.process.ended? })
  end

  def note_ends(lines)
    alive.select { |worker| worker.process.ended? }.each do |worker|
      worker.gone = true
      ends = lines.grep(/pid #{worker.pid}\)/).filter_map { |line| line[/\) (ended before it was|ended:|has left)/, 1] }
      expect(ends == expected_end(worker)) { "the log says #{ends} of #{worker.pid}" }
      expect(worker.process.hung_up?) { "the channel of #{worker.pid} is open" }
      note_own_end(worker, fault: !worker.user) if worker.staying? || (!worker.ready? && !worker.told)
    end
  end

  def expected_end(worker)
    return ["ended before it was"] if !worker.ready? && !worker.told
    return ["ended:"] if worker.staying?

    worker.ready? || !@stopping ? ["has left"] : []
  end

  # A worker that serves is told to end when another one serves in its place.
  def check_told(told)
    told.select { |worker| worker.ready? && !worker.got?(:hurry) }.each do |worker|
      others = @workers.select { |one| one.number == worker.number && one != worker && one.ready_at == @now }
      expect(others.any?) { "#{worker.pid} leaves, and none serves in its place" }
    end
  end

  # One worker after the other is replaced, if nobody wants all at once.
  def check_replaced(replaced)
    busy = alive.reject { |worker| worker.process.ended? || worker.staying? || worker.hung }
    expect(replaced.empty? || (busy | replaced).size < 2) { "two are replaced at once" }
    waiting = alive.any? { |worker| worker.asked && worker.staying? && !worker.process.ended? }
    expect(busy.any? || !waiting || @stopping) { "one that asks is not replaced" }
  end

  def check_serving
    (1..@size).each do |number|
      free = of(number).reject { |worker| worker.told || worker.killed }
      former = free.reject(&:staying?)
      expect(former.empty? || of(number).none? { |one| one.staying? && one.ready? }) { "a former #{number} serves on" }
      expect(free.size < 3) { "#{number} has three workers" }
    end
    return if @together && !(1..@size).all? { |number| of(number).any? { |one| one.said?(:prepared) && !one.told } }

    late = alive.find { |one| one.said?(:prepared) && !one.told && !one.killed && !one.got?(:serve) }
    expect(late.nil?) { "#{late.pid} is not told to serve" }
  end

  def check_starts(attempts)
    missing = (1..@size).select { |number| of(number).none?(&:staying?) }
    hung, others = missing.partition { |number| of(number).any?(&:hung) }
    attempts.each { |number, result| note_attempt(number, result, missing) }
    late = (others & missing).select { |number| @pauses.over?(number, @now) }
    expect(late.empty?) { "no start of #{late}" }
    check_crowd(attempts.any? { |number, _| hung.include?(number) }, hung & missing, others & missing)
  end

  # A number with a worker that hangs gets another one only if there is room.
  def check_crowd(attempted, hung, others)
    crowd = alive.count { |worker| !worker.waiting }
    expect(crowd <= 2 * @size || !attempted) { "#{crowd} workers" }
    late, waiting = hung.partition { |number| @pauses.over?(number, @now) }
    expect(late.empty? || crowd + others.size + waiting.size >= 2 * @size) { "no start of #{late}" }
  end

  def note_attempt(number, result, missing)
    expect(missing.include?(number)) { "a start of #{number}, which has a worker" }
    expect(@pauses.over?(number, @now)) { "no pause before a start of #{number}" }
    case result
    when :refused then @pauses.refuse(@now)
    when :failed then @pauses.failed(number, @now, fault: true)
    else
      missing.delete(number)
      @pauses.started
      @workers << SeenWorker.new(result, @now)
    end
  end
end
