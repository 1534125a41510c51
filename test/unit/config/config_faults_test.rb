# frozen_string_literal: true

require "test_helper"
require "bontebok/config/config"

# Tests that --check and a start get all faults of a configuration.
class ConfigFaultsTest < Support::TestCase
  def test_a_file_goes_on_after_a_fault
    path = temp_file("c.rb", <<~RUBY)
      frobnicate 1
      max_workers twist
      threads 1, 2
      backlog 7
      directory "/proc/none"
      nothing do raise end
      keepalive_timeout "soon"
    RUBY
    faults = faults_of({ config_file: [path] })
    assert_equal [1, 2, 3, 5, 6, 7], faults.map { |fault| fault[/\A#{path}:(\d):/, 1].to_i }, faults
    assert_equal 7, @config[:backlog]
    assert_raises_all faults, config_file: [path]
  end

  def test_a_file_that_raises_keeps_its_values
    path = temp_file("c.rb", "backlog 7\nthreads 0\nraise IOError, 'no'\nthreads 1\n")
    assert_equal ["#{path}:3: no (IOError)", "#{path}:2: threads wants a whole number from 1 to 64, not 0"],
                 faults_of({ config_file: [path] })
    assert_equal 7, @config[:backlog]
  end

  def test_a_directive_with_wrong_arguments_is_a_fault
    path = temp_file("puma.rb", "bind\nthreads 3\nbind 'ssl://0.0.0.0:1'\nbackloog 1\n")
    faults = faults_of({ config_file: [path] })
    assert_equal [1, 3, 4], faults.map { |fault| fault[/\A#{path}:(\d):/, 1].to_i }, faults
  end

  def test_a_wrong_address_does_not_hide_the_others
    path = temp_file("c.rb", "listen 'unix:/x', '0.0.0.0:99999'\nlisten 'a:b:c'\nlisten 80\n")
    faults = faults_of({ config_file: [path] })
    assert_equal ["#{path}:1: listen wants a port from 0 to 65535, not \"0.0.0.0:99999\"",
                  "#{path}:2: listen wants HOST:PORT, PORT, *:PORT, [v6]:PORT, unix:/path or unix:@name, " \
                  "not \"a:b:c\""], faults
    assert_equal %w[unix:/x 0.0.0.0:80], @config[:listen].map(&:to_s)
    assert_raises_all faults, config_file: [path]
  end

  def test_a_wrong_address_of_the_command_line_is_named_alone
    assert_equal ["command line: listen wants a port from 0 to 65535, not \"99999\""],
                 faults_of({ listen: %w[80 99999] })
    assert_equal ["0.0.0.0:80"], @config[:listen].map(&:to_s)
  end

  def test_an_option_without_a_right_address_has_its_default
    assert_equal 2, faults_of({ listen: %w[a:b:c 99999] }).size
    assert @config.wrong?(:listen)
  end

  # A hook calls the directives' methods, too. It runs after the file is read.
  def test_a_hook_is_no_directive
    path = temp_file("c.rb", "on_booted { frobnicate }\nafter_stopped { threads }\n")
    hooks = Bontebok::Config.new({ config_file: [path] }, env: {}).hooks
    causes = %i[on_booted after_stopped].map { |name| assert_raises(Bontebok::Hooks::Failed) { hooks.run(name) }.cause }
    assert_equal [NameError, Bontebok::UsageError], causes.map(&:class)
    assert_operator causes.first.backtrace.first, :start_with?, "#{path}:1:"
  end

  private

  def faults_of(values)
    @config = Bontebok::Config.new(values, faults: faults = Bontebok::Faults.new, env: {})
    faults.messages
  end

  def assert_raises_all(faults, **values)
    error = assert_raises(Bontebok::UsageError) { Bontebok::Config.new(values, env: {}) }
    assert_equal [faults, faults.join("\n")], [error.messages, error.message]
  end
end
