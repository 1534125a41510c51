# frozen_string_literal: true

require_relative "checks"
require "etc"

# Builds a checkout in a path with a space. make and mkmf do not expect such a path.
class CheckoutTest < Lint::TestCase
  SOURCES = %w[bin exe ext lib core/src core/include load/src].freeze
  BUILT = %w[lib/bontebok/bontebok.so].freeze

  # Neither Bundler nor root is necessary for a build, but a compiler.
  def test_a_missing_compiler_is_named
    path = File.join(temp_dir, "path")
    FileUtils.mkdir_p(path)
    %w[bash env dirname id uname].each { |name| File.symlink("/usr/bin/#{name}", File.join(path, name)) }
    File.symlink(RbConfig.ruby, File.join(path, "ruby"))
    build = Support::ChildProcess.run("bin/setup", "--build", chdir: copy_to(File.join(temp_dir, "checkout")),
                                                              env: { "PATH" => path }, limit: 60)
    assert_equal [1, <<~TEXT], [build.status.exitstatus, build.output.text]
      Packages are missing. Run this as root, then start bin/setup again:
        apt-get update && apt-get install -y build-essential
    TEXT
  end

  # `gem install` shows this message. mkmf's own message names no compiler.
  def test_extconf_names_a_missing_compiler
    child = Support::ChildProcess.run(RbConfig.ruby, "#{ROOT}/ext/bontebok/extconf.rb", chdir: temp_dir,
                                                                                        env: { "PATH" => temp_dir })
    compiler = RbConfig::CONFIG["CC"].split.first
    assert_equal [1, "Bontebok needs a C compiler, and there is no #{compiler}. Debian: apt install build-essential\n"],
                 [child.status.exitstatus, child.output.text.lines.first]
  end

  # RubyGems and Bundler run make without -j.
  def test_make_uses_all_processors_unless_the_user_says_otherwise
    temp_file("show.mk", "show:\n\t@echo '$(filter -j%,$(MAKEFLAGS))'\n")
    { [] => Etc.nprocessors, ["-j3"] => 3 }.each do |flags, jobs|
      make = Support::ChildProcess.run("make", "-s", *flags, "-f", "Makefile", "-f", "#{temp_dir}/show.mk", "show",
                                       chdir: "#{ROOT}/tmp/build/bontebok", env: { "MAKEFLAGS" => nil })
      assert_equal "-j#{jobs}\n", make.output.text
    end
  end

  if Support::Length::LONG
    def test_the_build_works_in_a_path_with_a_space
      checkout = copy_to(File.join(temp_dir, "a path/bonte bok"))
      built = Support::ChildProcess.run("#{checkout}/bin/setup", "--build", limit: 300)
      assert_predicate built.status, :success?, built.output.text
      BUILT.each { |path| assert_path_exists File.join(checkout, path) }
    end
  end

  private

  def copy_to(checkout)
    SOURCES.each do |directory|
      FileUtils.mkdir_p(File.dirname(File.join(checkout, directory)))
      FileUtils.cp_r(File.join(ROOT, directory), File.join(checkout, directory))
    end
    BUILT.each { |path| FileUtils.rm_f(File.join(checkout, path)) }
    checkout
  end
end
