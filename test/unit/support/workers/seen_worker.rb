# frozen_string_literal: true

# A worker as WorkersModel knows it: the words of its process, and the words and signals to it. Checks that it is told
# to end and killed in time, and not before, and that it hears what it must hear.
class SeenWorker
  GRACE = 60
  BOOT = 50
  HIJACK = 600
  TOLD = %i[retire drain quit].freeze

  # asked: it wants to be replaced. gone: it was reaped.
  attr_accessor :asked, :replaced, :gone
  # lost_at: when its closed channel counts. user: a user has ended it.
  attr_reader :process, :ready_at, :told, :hung, :waiting, :killed, :lost_at, :user

  def initialize(process, now)
    @process = process
    @words = [] # that it has said
    @fresh = [] # that it says in this turn
    @heard = 0 # how many words of its parent are known
    @due = now + BOOT # when it must be killed
    @reopens = 0
    @term = false
  end

  def pid = process.pid

  def number = process.number

  def staying? = !told && !replaced && !hung

  def ready? = !ready_at.nil?

  def said?(word) = @words.include?(word)

  def got?(word) = process.said.include?(word)

  # It must open its logs again.
  def reopen = @reopens += 1

  # ---- what it does ----

  def say(word)
    return if lost_at

    @fresh << word
    process.say(word)
  end

  # Says what it says next, if it has heard what it waits for. Returns nil if it waits.
  def advance = next_word&.then { |word| say(word) }

  def close(now)
    @lost_at ||= now + 0.5
    process.close
  end

  # way: see FakeWorker.
  def end_by(way, *how)
    @user = way == :die && !killed
    process.public_send(way, *how)
  end

  # Notes the words of this turn. stalled: it does not move.
  def note_words(now, stalled:)
    @words.concat(@fresh)
    @due = nil if @fresh.intersect?(%i[loaded prepared ready]) && !told
    @ready_at = now if @fresh.include?(:ready)
    @asked = true if @fresh.include?(:leave)
    wait(now) if @fresh.include?(:waits) && told
    @stuck = @fresh.include?(:stuck)
    @emptied = @fresh.include?(:emptied) || (stalled && !killed)
    @hung = true if @emptied || @fresh.intersect?(%i[hung stuck])
    @fresh.clear
  end

  # It has closed its channel, and runs on.
  def lost?(now) = !lost_at.nil? && lost_at <= now && !told && !process.ended?

  def lose(now)
    @told = @lost = true
    @due = now + GRACE
  end

  # ---- what its parent says ----

  # It gets the word in this turn.
  def hears?(word) = process.said.drop(@heard).include?(word)

  # Notes the words. Returns whether the parent has told it to end, and had not before.
  def note_answers(now)
    before = told
    process.said.drop(@heard).each { |word| note_answer(word, now) }
    @heard = process.said.size
    told && !before
  end

  # Returns a fault, or nil. order: what the parent was told. gone: whether it was told to let workers serve.
  def fault(now, order, gone)
    killed = process.signals.include?(:KILL)
    return "killed: #{killed}" unless @killed || killed == (due?(now) || @emptied || order == :kill)

    @killed ||= killed
    deadline = @due unless @killed
    return "deadline: #{process.deadline}, not #{deadline}" unless process.deadline == deadline

    word_fault(gone) || (end_fault(now, order) unless @killed)
  end

  private

  def next_word
    if !said?(:loaded) then :loaded
    elsif !got?(:go) || ready? then nil
    elsif !said?(:prepared) then :prepared
    elsif got?(:serve) then :ready
    end
  end

  def wait(now)
    @waiting = true
    @due = now + HIJACK + 1
  end

  def note_answer(word, now)
    case word
    when :go, :serve then @due = now + BOOT unless told
    when :hurry then @due = [@due, now + 1].min
    when :quit then @due = now + 2
    when :retire, :drain then @due = now + GRACE
    end
    note_end_word if TOLD.include?(word)
  end

  # TERM is for a worker that still loads.
  def note_end_word
    @told = true
    @term = true unless said?(:loaded)
  end

  def due?(now) = !@due.nil? && @due <= now

  def word_fault(gone)
    if process.said.tally.values_at(:serve, :retire, :drain).any? { |count| count.to_i > 1 } then "told twice"
    elsif process.signals.tally.any? { |_, count| count > 1 && !got?(:quit) } then "killed twice"
    elsif process.signals.include?(:TERM) != @term then "TERM: #{!@term}"
    elsif @lost && got?(:retire) then "lost, and told to retire"
    elsif said?(:loaded)
      return "does not hear go" if gone && !told && !got?(:go)

      "does not reopen" if process.said.count(:reopen) != @reopens
    end
  end

  def end_fault(now, order)
    return "is not told to end" if TOLD.include?(order) && !told

    "does not end at once" if (order == :quit && @due > now + 2) || (@stuck && @due > now + 1)
  end
end
