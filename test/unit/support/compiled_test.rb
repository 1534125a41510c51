# frozen_string_literal: true

require "test_helper"

# Tests the store of compiled files, in a checkout of its own.
class CompiledTest < Support::TestCase
  COMPILED = File.join(ROOT, "test/support/ruby/compiled.rb")

  def setup
    skip "another implementation of Ruby" unless defined?(RubyVM::InstructionSequence)
    temp_file("test/support/ruby/compiled.rb", File.read(COMPILED))
  end

  def test_a_file_is_compiled_once_and_again_after_a_change
    assert_equal %w[one 1], [value("one"), stored.size.to_s]
    compiled = stored.first
    File.binwrite(compiled, RubyVM::InstructionSequence.compile("VALUE = 'stored'").to_binary)
    assert_equal "stored", value
    assert_equal "other", value("other")
  end

  def test_a_broken_file_is_replaced
    value("one")
    compiled = File.binread(stored.first)
    ["", compiled[0, compiled.size / 2]].each do |broken|
      File.binwrite(stored.first, broken)
      assert_equal "one", value
      assert_equal compiled, File.binread(stored.first)
    end
  end

  def test_flags_that_change_the_code_prevent_the_use
    value("one", "-w")
    value("one", "--enable-frozen-string-literal")
    assert_empty stored
  end

  def test_a_syntax_error_has_its_usual_message
    temp_file("lib/a.rb", "def")
    run = ruby
    refute_predicate run.status, :success?
    assert_match(/lib.a\.rb:1: .*syntax error/m, run.output.text)
  end

  def test_a_store_that_cannot_be_written_changes_nothing
    temp_file("tmp")
    assert_equal "one", value("one")
  end

  private

  # Returns what a new process finds in lib/a.rb.
  def value(text = nil, *flags)
    temp_file("lib/a.rb", "VALUE = '#{text}'") if text
    ruby(*flags).output.text
  end

  def ruby(*flags)
    Support::ChildProcess.run(RbConfig.ruby, "--disable=gems", *flags, "-r#{temp_dir}/test/support/ruby/compiled.rb",
                              "-r#{temp_dir}/lib/a.rb", "-e", "print VALUE", env: { "RUBYOPT" => nil })
  end

  def stored = Dir.glob("#{temp_dir}/tmp/compiled/**/*").select { |path| File.file?(path) && path.include?("a.rb-") }
end
